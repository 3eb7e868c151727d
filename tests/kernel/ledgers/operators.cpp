// Every form of operator new, and the delete that goes with it.
#include <new>

#include "noted_stacks.h"
#ifdef LEDGER_OWN_OPERATORS
#include "own_operators.h"
#endif

// Sizes are multiples of the alignment, to which libstdc++ rounds before it calls aligned_alloc.
constexpr std::align_val_t kAlignment{64};

extern "C" {
SITE_FUNCTION block by_new(size_t n) {
  NOTE_STACK();
  return ALLOCATED(::operator new(n), n);
}
SITE_FUNCTION block by_new_array(size_t n) {
  NOTE_STACK();
  return ALLOCATED(::operator new[](n), n);
}
SITE_FUNCTION block by_new_nothrow(size_t n) {
  NOTE_STACK();
  return ALLOCATED(::operator new(n, std::nothrow), n);
}
SITE_FUNCTION block by_new_array_nothrow(size_t n) {
  NOTE_STACK();
  return ALLOCATED(::operator new[](n, std::nothrow), n);
}
SITE_FUNCTION block by_new_aligned(size_t n) {
  NOTE_STACK();
  return ALLOCATED(::operator new(n, kAlignment), n);
}
SITE_FUNCTION block by_new_array_aligned(size_t n) {
  NOTE_STACK();
  return ALLOCATED(::operator new[](n, kAlignment), n);
}
SITE_FUNCTION block by_new_aligned_nothrow(size_t n) {
  NOTE_STACK();
  return ALLOCATED(::operator new(n, kAlignment, std::nothrow), n);
}
SITE_FUNCTION block by_new_array_aligned_nothrow(size_t n) {
  NOTE_STACK();
  return ALLOCATED(::operator new[](n, kAlignment, std::nothrow), n);
}
SITE_FUNCTION block by_expression(size_t n) {
  NOTE_STACK();
  return ALLOCATED(new char[n], n);
}
}

namespace {

void delete_in_turn(block freed, size_t number) {
  if (number % 3 == 0) return;
  if (number % 3 == 1) ::operator delete(freed.address);
  if (number % 3 == 2) ::operator delete(freed.address, freed.bytes);
  ledger_freed(freed);
}

void delete_array_in_turn(block freed, size_t number) {
  if (number % 3 == 0) return;
  if (number % 3 == 1) ::operator delete[](freed.address);
  if (number % 3 == 2) ::operator delete[](freed.address, freed.bytes);
  ledger_freed(freed);
}

void delete_aligned_in_turn(block freed, size_t number) {
  if (number % 3 == 0) return;
  if (number % 3 == 1) ::operator delete(freed.address, kAlignment);
  if (number % 3 == 2) ::operator delete(freed.address, freed.bytes, kAlignment);
  ledger_freed(freed);
}

void delete_array_aligned_in_turn(block freed, size_t number) {
  if (number % 3 == 0) return;
  if (number % 3 == 1) ::operator delete[](freed.address, kAlignment);
  if (number % 3 == 2) ::operator delete[](freed.address, freed.bytes, kAlignment);
  ledger_freed(freed);
}

}  // namespace

int main() {
  ledger_begin();
  for (size_t i = 1; i <= 150; ++i) {
    const size_t n = 64 * i;
    delete_in_turn(by_new(n + 1), i);
    delete_in_turn(by_new_nothrow(n + 2), i);
    delete_array_in_turn(by_new_array(n + 3), i);
    delete_array_in_turn(by_new_array_nothrow(n + 4), i);
    delete_array_in_turn(by_expression(n + 5), i);
    delete_aligned_in_turn(by_new_aligned(n), i);
    delete_aligned_in_turn(by_new_aligned_nothrow(n), i);
    delete_array_aligned_in_turn(by_new_array_aligned(n), i);
    delete_array_aligned_in_turn(by_new_array_aligned_nothrow(n), i);
  }
  ledger_end();
  return 0;
}
