/* A handler for when memory runs out that allocates, throws through operator new, and is called while another such
 * exception is under way. */
#include <new>
#include <stdexcept>

#include "hostile.h"

namespace {

int depth;

SITE_FUNCTION block in_handler(size_t n) { return ALLOCATED(malloc(n), n); }

struct NoMemory {};

[[noreturn]] void handle() {
  release(in_handler(33));
  if (depth > 0) {
    depth--;
    try {
      operator delete(operator new(SIZE_MAX / 3));
    } catch (const NoMemory&) {
      in_handler(44);
    }
  }
  throw NoMemory();
}

SITE_FUNCTION block by_new(size_t n) { return ALLOCATED(operator new(n), n); }

}  // namespace

int main() {
  std::set_new_handler(handle);
  try {
    throw NoMemory(); /* what the first exception makes is made */
  } catch (const NoMemory&) {
  }
  ledger_begin();
  static ledger_site exceptions __attribute__((section("ledger_sites"), used)) = {"exceptions", 0, 0, 0, 0};
  for (size_t i = 1; i <= 200; i++) {
    depth = static_cast<int>(i % 4);
    const size_t thrown = static_cast<size_t>(depth) + 1;
    try {
      release(by_new(SIZE_MAX / 2 - i));
    } catch (const NoMemory&) {
      block made = by_new(i);
      operator delete(made.address);
      ledger_freed(made);
    }
    /* __cxa_allocate_exception asks for the object and its header, 128 bytes, of malloc. */
    exceptions.allocated_count += thrown;
    exceptions.allocated_bytes += thrown * 129;
    exceptions.freed_count += thrown;
    exceptions.freed_bytes += thrown * 129;
  }
  ledger_end();
  return 0;
}
