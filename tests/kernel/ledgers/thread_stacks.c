/* A thousand threads that are there at once: their stacks are mapped in many threads' turns, partly unmapped by the
 * program, and unmapped in part when the threads have ended; some allocate. */
#define _GNU_SOURCE
#include <pthread.h>

#include "regions.h"

enum { kThreads = 1000, kStackPages = 16, kAllocating = 50, kMakers = 4 };

static pthread_barrier_t all_are_there;
static uint64_t stack_pages, program_pages;

SITE_FUNCTION struct block in_thread(size_t n) { return ALLOCATED(malloc(n), n); }
SITE_FUNCTION char* in_each_thread(size_t pages) { return map_at(NULL, pages, MAP_PRIVATE | MAP_ANONYMOUS, -1); }

/* As the kernel has mapped it: with its guard. */
static size_t own_stack_pages(void) {
  pthread_attr_t attributes;
  size_t bytes = 0, guard = 0;
  void* start;
  ledger_require(!pthread_getattr_np(pthread_self(), &attributes), "the stack is known");
  pthread_attr_getstack(&attributes, &start, &bytes);
  pthread_attr_getguardsize(&attributes, &guard);
  pthread_attr_destroy(&attributes);
  return (bytes + guard) / kPage;
}

static void* work(void* argument) {
  size_t number = (size_t)argument;
  __atomic_fetch_add(&stack_pages, own_stack_pages(), __ATOMIC_RELAXED);
  if (number < kAllocating) in_thread(1000 + number);
  in_each_thread(1 + number % 3);
  __atomic_fetch_add(&program_pages, 1 + number % 3, __ATOMIC_RELAXED);
  pthread_barrier_wait(&all_are_there);
  return NULL;
}

SITE_FUNCTION void in_maker(pthread_t* thread, const pthread_attr_t* attributes, size_t number) {
  ledger_require(!pthread_create(thread, attributes, work, (void*)number), "threads can be made");
  __asm__ volatile("" ::: "memory");
}

static pthread_t threads[kThreads];

static void* make(void* first) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  ledger_require(!pthread_attr_setstacksize(&attributes, kStackPages * kPage), "the stacks are large enough");
  for (size_t i = (size_t)first; i < kThreads; i += kMakers) in_maker(&threads[i], &attributes, i);
  return NULL;
}

int main(void) {
  pthread_t makers[kMakers];
  pthread_barrier_init(&all_are_there, NULL, kThreads + 1);
  ledger_begin();
  for (size_t i = 0; i < kMakers; i++) pthread_create(&makers[i], NULL, make, (void*)i);
  for (size_t i = 0; i < kMakers; i++) pthread_join(makers[i], NULL);
  pthread_barrier_wait(&all_are_there);
  for (size_t i = 0; i < kThreads; i++) pthread_join(threads[i], NULL);
  ledger_value("in_maker/stack/program/mapped", stack_pages * kPage);
  region_line("in_each_thread/anonymous/program", program_pages, 0);
  ledger_varies("in_maker/stack/program/mapped");
  ledger_end();
  return 0;
}
