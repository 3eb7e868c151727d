// Exceptions through traced code: what is thrown is allocated by the C++ runtime, destructors that run on the way and
// catch clauses allocate, and the stacks after all that are as before.
#include <stdexcept>

#include "noted_stacks.h"

constexpr size_t kRounds = 60;
constexpr size_t kThrown = 48;

extern "C" {
SITE_FUNCTION block by_new(size_t n) {
  NOTE_STACK();
  return ALLOCATED(::operator new(n), n);
}
SITE_FUNCTION block in_destructor(size_t n) {
  NOTE_STACK();
  return ALLOCATED(::operator new[](n), n);
}
SITE_FUNCTION block in_catch(size_t n) {
  NOTE_STACK();
  return ALLOCATED(malloc(n), n);
}
}

namespace {

struct Thrown {
  size_t number;
  char more[kThrown - sizeof(size_t)];
};

struct AllocatesAtTheEnd {
  explicit AllocatesAtTheEnd(size_t n) : n_(n) {}
  ~AllocatesAtTheEnd() { release_in_turn(in_destructor(n_)); }
  AllocatesAtTheEnd(const AllocatesAtTheEnd&) = delete;
  AllocatesAtTheEnd& operator=(const AllocatesAtTheEnd&) = delete;

 private:
  void release_in_turn(block made) const {
    if (n_ % 3 != 0) release(made);
  }
  size_t n_;
};

[[gnu::noinline]] void descend(size_t levels, size_t n) {
  const AllocatesAtTheEnd at_the_end(n + levels);
  if (levels == 0) throw Thrown{n, {}};
  descend(levels - 1, n);
  asm volatile("" ::: "memory");
}

[[gnu::noinline]] void rethrow(size_t levels, size_t n) {
  try {
    descend(levels, n);
  } catch (const Thrown&) {
    release(in_catch(n));
    throw;
  }
}

[[gnu::noinline]] size_t catch_all(size_t levels, size_t n) {
  const block before = by_new(n);
  size_t caught = 0;
  try {
    rethrow(levels, n);
  } catch (const Thrown& thrown) {
    caught = thrown.number;
    const block inside = in_catch(n + 1);
    if (n % 2 != 0) release(inside);
  }
  ::operator delete(before.address);
  ledger_freed(before);
  return caught;
}

}  // namespace

int main() {
  ledger_require(catch_all(1, 3) == 3, "the first exception, for which the unwinder prepares itself, is caught");
  ledger_begin();
  forget_ledger();
  forget_stacks();
  for (size_t i = 1; i <= kRounds; ++i) ledger_require(catch_all(i % 6, i) == i, "what is thrown is caught");
  ledger_foreign("__cxa_allocate_exception", kRounds);
  ledger_end();
  _exit(0);  // blocks from before the trace stay where they are
}
