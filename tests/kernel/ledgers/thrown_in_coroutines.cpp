// Two coroutines on stacks of their own, and an operator new that goes on in the other one before it fetches a block.
// In one a call is left by an exception, and a later one of another size is made in its very place: it returns its own
// block.
#include <sys/mman.h>
#include <ucontext.h>

#include <initializer_list>
#include <new>

#include "ledger.h"

namespace {

constexpr size_t kTooMany = 5000;

ucontext_t scheduler, coroutines[2];
int current = 0;
bool goes_on_elsewhere = false;
alignas(16) char pool[1 << 16];
size_t used = 0;

[[gnu::noinline]] void go_on_elsewhere() { swapcontext(&coroutines[current], &scheduler); }

[[gnu::noinline]] void* fetch(size_t bytes) {
  const size_t at = used;
  used += bytes;
  return pool + at;
}

}  // namespace

extern "C" {
SITE_FUNCTION block by_new(size_t n) { return ALLOCATED(operator new(n), n); }
}

namespace {

/// At the same depth each time.
[[gnu::noinline]] void allocate_deeper(size_t bytes) {
  volatile char room[200];
  room[0] = 1;
  by_new(bytes);
  room[1] = 2;
}

void throw_and_allocate() {
  try {
    allocate_deeper(kTooMany);
  } catch (const std::bad_alloc&) {
    go_on_elsewhere();
  }
  allocate_deeper(200);
  for (;;) go_on_elsewhere();
}

void allocate() {
  by_new(100);
  by_new(300);
  for (;;) go_on_elsewhere();
}

void prepare(ucontext_t& coroutine, void (*body)()) {
  constexpr size_t kStackBytes = 64 << 10;
  getcontext(&coroutine);
  coroutine.uc_stack.ss_sp = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  coroutine.uc_stack.ss_size = kStackBytes;
  makecontext(&coroutine, body, 0);
}

}  // namespace

[[gnu::noinline]] void* operator new(size_t bytes) {
  if (bytes == kTooMany) throw std::bad_alloc();
  const size_t rounded = (bytes + 31) & ~size_t{15};
  if (goes_on_elsewhere) go_on_elsewhere();
  return fetch(rounded);
}
[[gnu::noinline]] void operator delete(void* block) noexcept { asm volatile("" : : "r"(block) : "memory"); }
[[gnu::noinline]] void operator delete(void* block, size_t) noexcept { asm volatile("" : : "r"(block) : "memory"); }

int main() {
  try {
    operator new(kTooMany);
  } catch (const std::bad_alloc&) {
  }
  prepare(coroutines[0], throw_and_allocate);
  prepare(coroutines[1], allocate);
  ledger_begin();
  goes_on_elsewhere = true;
  for (const int next : {0, 1, 0, 1, 0, 1, 0}) {
    current = next;
    swapcontext(&scheduler, &coroutines[next]);
  }
  goes_on_elsewhere = false;
  ledger_foreign("__cxa_allocate_exception", 1);
  ledger_end();
  return 0;
}
