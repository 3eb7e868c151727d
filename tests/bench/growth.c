#include <stdlib.h>

#include "tests/bench/work.h"

enum { kFirstBytes = 16, kSmallBytes = 1024, kMib = 1024 * 1024 };

/* What a buffer of `bytes` grows to: half as much again, as most vectors do. */
static size_t grown(size_t bytes) { return bytes + bytes / 2; }

/* Grows to `target` bytes and writes a word into each new page, as a program that fills it would. */
BENCH_CALL static void* grow(void* buffer, size_t* bytes, size_t target, long* reallocs) {
  while (*bytes < target) {
    const size_t old = *bytes;
    *bytes = old == 0 ? kFirstBytes : grown(old);
    buffer = realloc(buffer, *bytes);
    if (buffer == NULL) exit(1);
    for (size_t at = old; at < *bytes; at += 4096) ((volatile char*)buffer)[at] = 1;
    ++*reallocs;
  }
  return buffer;
}

BENCH_CALL static void grow_small_one(long* reallocs) {
  size_t bytes = 0;
  free(grow(NULL, &bytes, kSmallBytes, reallocs));
}

struct outcome run_growth(long mib, long small) {
  void* large = NULL;
  size_t large_bytes = 0;
  long reallocs = 0;
  const double before = now_ns();
  for (long i = 0; i < small; i++) {
    grow_small_one(&reallocs);
    /* The large one reaches each part of its size when as large a part of the small ones is done. */
    large = grow(large, &large_bytes, (size_t)mib * kMib / (size_t)small * (size_t)(i + 1), &reallocs);
  }
  free(large);
  const double took = now_ns() - before;
  return (struct outcome){.ns = took / (double)reallocs, .allocations = reallocs};
}
