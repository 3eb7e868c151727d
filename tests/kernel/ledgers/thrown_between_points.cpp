// Exceptions out of the middle of a malloc, where what was asked for has been seen and the block has not; and threads
// that end there, for which the C library unwinds their stacks too. The calls after it are made in the same place.
#include <pthread.h>

#include "ledger.h"

extern "C" {
extern void (*allocator_hook)();

SITE_FUNCTION block by_malloc(size_t n) { return ALLOCATED(malloc(n), n); }

/* Writes every word of the stack that the calls have used. */
SITE_FUNCTION void use_stack_again() {
  volatile size_t frame[1024];
  for (size_t i = 0; i < 1024; i++) frame[i] = i;
  ledger_require(frame[1023] == 1023, "memory keeps what is written");
}
}

namespace {

constexpr size_t kRounds = 60, kThreads = 10;

enum class Hook : unsigned char { kNothing, kThrows, kEndsThread };
thread_local Hook to_do = Hook::kNothing;

void run_hook() {
  const Hook now = to_do;
  to_do = Hook::kNothing;
  if (now == Hook::kThrows) throw 1;
  if (now == Hook::kEndsThread) pthread_exit(nullptr);
}

[[gnu::noinline]] void leave(Hook how) {
  to_do = how;
  by_malloc(4242);
  ledger_require(0, "the call does not return");
}

[[gnu::noinline]] bool is_thrown() {
  try {
    leave(Hook::kThrows);
  } catch (int) {
    return true;
  }
  return false;
}

void allocate(size_t n) {
  for (size_t i = 1; i <= 4; ++i) {
    const block made = by_malloc(n * i);
    if (i < 3) release(made);
  }
}

pthread_barrier_t start;

void* ending(void* number) {
  pthread_barrier_wait(&start);
  allocate(reinterpret_cast<size_t>(number) + 1);
  leave(Hook::kEndsThread);
  return nullptr;
}

void* only_exit(void* /*nothing*/) { pthread_exit(nullptr); }

}  // namespace

int main() {
  pthread_t threads[kThreads], first;
  allocator_hook = run_hook;
  ledger_require(is_thrown(), "the first exception, for which the unwinder prepares itself, is caught");
  pthread_create(&first, nullptr, only_exit, nullptr);  // the same
  pthread_join(first, nullptr);
  pthread_barrier_init(&start, nullptr, kThreads + 1);
  for (size_t i = 0; i < kThreads; ++i) pthread_create(&threads[i], nullptr, ending, reinterpret_cast<void*>(i));
  ledger_begin();
  for (size_t i = 1; i <= kRounds; ++i) {
    ledger_require(is_thrown(), "what is thrown is caught");
    if (i % 3 != 0) use_stack_again();
    allocate(i);
  }
  pthread_barrier_wait(&start);
  for (const pthread_t thread : threads) pthread_join(thread, nullptr);
  ledger_foreign("__cxa_allocate_exception", kRounds);
  ledger_end();
  return 0;
}
