/* Walks that are made so often that the tracer remembers them; and then others that begin with the same registers and
 * differ in one frame: at every depth, in threads and in contexts that have the same memory for their stacks. */
#include <pthread.h>
#include <ucontext.h>

#include "noted_stacks.h"

enum { kDepth = 40, kOften = 100, kThreads = 6, kContexts = 2, kStackBytes = 64 << 10 };

static uintptr_t expected_place;

/* At the same place as the last time, if there was one. */
SITE_FUNCTION struct block by_malloc(size_t n) {
  volatile char here = 0;
  ledger_require(!expected_place || expected_place == (uintptr_t)&here, "the stack pointer is the same");
  expected_place = (uintptr_t)&here;
  NOTE_STACK();
  return ALLOCATED(malloc(n), n);
}

SITE_FUNCTION void left(unsigned long path, size_t levels);
SITE_FUNCTION void right(unsigned long path, size_t levels);

/* The bits of `path` say where to turn; both frames have the same size. */
#define TURN(name)                                             \
  SITE_FUNCTION void name(unsigned long path, size_t levels) { \
    if (!levels)                                               \
      release(by_malloc(40));                                  \
    else if (path & 1)                                         \
      right(path >> 1, levels - 1);                            \
    else                                                       \
      left(path >> 1, levels - 1);                             \
    __asm__ volatile("" ::: "memory");                         \
  }
TURN(left)
TURN(right)

SITE_FUNCTION void descend(unsigned long path, size_t times) {
  for (size_t i = 0; i < times; i++) left(path, kDepth);
}

static void at_every_depth(void) {
  expected_place = 0;
  for (int level = 0; level < kDepth; level++) {
    descend(0, kOften);
    descend(1UL << level, 1);
    descend(0, 1);
  }
}

SITE_FUNCTION void* work(void* times) {
  descend(0, (size_t)times);
  return NULL;
}
SITE_FUNCTION void* work_elsewhere(void* times) {
  descend(0, (size_t)times);
  return NULL;
}

static void in_thread(void* (*function)(void*), size_t times) {
  pthread_t thread;
  ledger_require(pthread_create(&thread, NULL, function, (void*)times) == 0, "the threads can be created");
  pthread_join(thread, NULL);
}

/* One after the other, on the same stack. */
static void in_threads(void) {
  expected_place = 0;
  for (int i = 0; i < kThreads; i++) in_thread(i % 2 ? work_elsewhere : work, kOften);
}

static ucontext_t of_main, contexts[kContexts];
static char stack[kStackBytes] __attribute__((aligned(4096))), kept[kContexts][kStackBytes];

static void in_context(int number) {
  for (;;) {
    if (number)
      descend(0, 1);
    else
      descend(0, 1);
    swapcontext(&contexts[number], &of_main);
  }
}

/* What each has on the stack is put there before it goes on. */
static void in_contexts(void) {
  expected_place = 0;
  for (int i = 0; i < kContexts; i++) {
    getcontext(&contexts[i]);
    contexts[i].uc_stack.ss_sp = stack;
    contexts[i].uc_stack.ss_size = kStackBytes;
    makecontext(&contexts[i], (void (*)(void))in_context, 1, i);
    memcpy(kept[i], stack, kStackBytes);
  }
  for (int i = 0; i < 6 * kOften; i++) {
    const int number = i / kOften % kContexts;
    memcpy(stack, kept[number], kStackBytes);
    swapcontext(&of_main, &contexts[number]);
    memcpy(kept[number], stack, kStackBytes);
  }
}

int main(void) {
  in_thread(work, 0); /* for the first one libc allocates */
  ledger_begin();
  at_every_depth();
  in_threads();
  in_contexts();
  ledger_end();
  return 0;
}
