/* Two busy threads on one CPU, preempted at any instruction of the probes: each block must carry the stack of its own
 * thread, however the two interleave. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>

#include "ledger.h"

enum { kRounds = 200000 };

static pthread_barrier_t start;

SITE_FUNCTION struct block left_leaf(size_t n) { return ALLOCATED(malloc(n), n); }
SITE_FUNCTION struct block right_leaf(size_t n) { return ALLOCATED(malloc(n), n); }

#define STEP(from, to)                        \
  SITE_FUNCTION struct block from(size_t n) { \
    struct block block = to(n);               \
    __asm__ volatile("" ::: "memory");        \
    return block;                             \
  }
STEP(left_2, left_leaf)
STEP(left_1, left_2)
STEP(right_8, right_leaf)
STEP(right_7, right_8)
STEP(right_6, right_7)
STEP(right_5, right_6)
STEP(right_4, right_5)
STEP(right_3, right_4)
STEP(right_2, right_3)
STEP(right_1, right_2)

static void* work_left(void* argument) {
  (void)argument;
  pthread_barrier_wait(&start);
  for (size_t i = 0; i < kRounds; i++) {
    struct block block = left_1(1 + i % 200);
    if (i % 100) release(block);
  }
  return NULL;
}

static void* work_right(void* argument) {
  (void)argument;
  pthread_barrier_wait(&start);
  for (size_t i = 0; i < kRounds; i++) {
    struct block block = right_1(1 + i % 300);
    if (i % 100) release(block);
  }
  return NULL;
}

/* Keeps the first CPU we may use. */
static void pin(void) {
  cpu_set_t allowed, one;
  int cpu = 0;
  ledger_require(sched_getaffinity(0, sizeof(allowed), &allowed) == 0, "sched_getaffinity works");
  while (!CPU_ISSET(cpu, &allowed)) cpu++;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  ledger_require(sched_setaffinity(0, sizeof(one), &one) == 0, "sched_setaffinity works");
}

int main(void) {
  pthread_t left, right;
  pin();
  pthread_barrier_init(&start, NULL, 3);
  pthread_create(&left, NULL, work_left, NULL);
  pthread_create(&right, NULL, work_right, NULL);
  pthread_setname_np(left, "left");
  pthread_setname_np(right, "right");
  ledger_begin();
  pthread_barrier_wait(&start);
  pthread_join(left, NULL);
  pthread_join(right, NULL);
  ledger_value("stacks", 2);
  ledger_end();
  return 0;
}
