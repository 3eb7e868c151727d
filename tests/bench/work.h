#ifndef HAWKTRACE_BENCH_WORK_H
#define HAWKTRACE_BENCH_WORK_H

#include "tests/bench/bench.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `threads` threads that each build and destroy a list of `elements` elements at the same time. Nanoseconds of wall
 * time per element of all lists. */
struct outcome run_lists(int threads, long elements);

/* A buffer that grows step by step to `mib` MiB as a vector does, and `small` buffers that grow from 16 bytes to 1 KiB
 * at the same time. Nanoseconds per realloc. */
struct outcome run_growth(long mib, long small);

#ifdef __cplusplus
}
#endif

#endif
