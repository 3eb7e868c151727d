/* What the programs of scripts/bench share. Each obeys lines on its standard input and answers each with one line that
 * begins with "= ", which distinguishes it from output of a profiler on the same stream. */
#ifndef HAWKTRACE_BENCH_H
#define HAWKTRACE_BENCH_H

#include <stdio.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Neither inlined into itself nor cloned for an argument, so that each call is a call with a frame of its own. */
#define BENCH_CALL __attribute__((noipa))

/* What a command did: the answer to it. */
struct outcome {
  double ns;        /* per operation; negative: it could not be done */
  long allocations; /* calls that returned a block, those before and after the timed part included */
};

static inline double now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static inline void answer(struct outcome outcome) {
  printf("= %.2f %ld\n", outcome.ns, outcome.allocations);
  fflush(stdout);
}

#ifdef __cplusplus
}
#endif

#endif
