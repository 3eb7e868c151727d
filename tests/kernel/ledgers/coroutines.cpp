// C++20 coroutines: their frames lie on the heap, their code runs on the stack of the thread that resumes them: the
// function that made them, a deeper one, another coroutine, another thread.
#include <pthread.h>

#include <coroutine>
#include <exception>

#include "noted_stacks.h"

constexpr size_t kRounds = 40;

extern "C" {
SITE_FUNCTION block for_frame(size_t n) {
  NOTE_STACK();
  return ALLOCATED(malloc(n), n);
}
SITE_FUNCTION block in_coroutine(size_t n) {
  NOTE_STACK();
  return ALLOCATED(malloc(n), n);
}
}

namespace {

// Frames of coroutines that live at the same time, most recent last.
block frames[8];
size_t frame_count = 0;

struct Task {
  struct promise_type {
    static void* operator new(size_t n) {
      frames[frame_count] = for_frame(n);
      return frames[frame_count++].address;
    }
    static void operator delete(void* address) {
      ledger_require(frame_count > 0 && frames[frame_count - 1].address == address, "the latest frame goes first");
      release(frames[--frame_count]);
    }
    Task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
  std::coroutine_handle<promise_type> handle;
};

[[gnu::noinline]] Task inner(size_t n) {
  for (size_t i = 0; i < 3; ++i) {
    release(in_coroutine(n + i));
    co_await std::suspend_always{};
  }
}

[[gnu::noinline]] Task outer(size_t n) {
  const Task task = inner(n + 5);
  while (!task.handle.done()) {
    task.handle.resume();
    const block kept = in_coroutine(n + 1);
    co_await std::suspend_always{};
    if (n % 3 != 0) release(kept);
  }
  task.handle.destroy();
}

[[gnu::noinline]] void resume_from(size_t levels, const Task& task) {
  if (levels == 0) {
    task.handle.resume();
  } else {
    resume_from(levels - 1, task);
  }
  asm volatile("" ::: "memory");
}

void run(size_t rounds) {
  for (size_t i = 1; i <= rounds; ++i) {
    const Task task = outer(i);
    for (size_t level = 0; !task.handle.done(); ++level) resume_from(level, task);
    task.handle.destroy();
  }
}

// Resumed elsewhere than it was made.
Task made_by_main{};
pthread_barrier_t start;

void* work(void* argument) {
  pthread_barrier_wait(&start);
  while (!made_by_main.handle.done()) resume_from(1, made_by_main);
  return argument;
}

}  // namespace

int main() {
  pthread_t thread;
  pthread_barrier_init(&start, nullptr, 2);
  ledger_require(pthread_create(&thread, nullptr, work, nullptr) == 0, "the thread can be created");
  ledger_begin();
  run(kRounds);
  made_by_main = outer(1000);
  resume_from(2, made_by_main);
  pthread_barrier_wait(&start);
  pthread_join(thread, nullptr);
  made_by_main.handle.destroy();
  ledger_end();
  return 0;
}
