/* Runs malloc+free pairs when it is told to, so that one and the same process is measured under each tracer in turn.
 *
 *   stdin:  run DEPTH PAIRS    a malloc of 64 bytes below DEPTH calls, and its free in the loop; PAIRS times
 *   stdout: nanoseconds per pair
 *
 * The pairs are timed in short batches, and told is the batch that a tenth of all batches beat. What each pair costs is
 * in every batch; what the slower batches have on top is what else ran on a shared machine. On one with a load of 11
 * the median of seven such figures repeats within 2 %, where the median batch itself moves by 30 %. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { kBytes = 64, kBatchPairs = 200, kMaxBatches = 20000 };

static double batch_ns[kMaxBatches];

static double now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* noipa: neither inlined into itself nor cloned for a depth, so that each level is a call with a frame of its own. */
__attribute__((noipa)) static void* descend(int depth) {
  void* block = depth > 1 ? descend(depth - 1) : malloc(kBytes);
  __asm__ volatile("" ::: "memory");
  return block;
}

__attribute__((noipa)) static void run_batch(int depth) {
  for (int i = 0; i < kBatchPairs; i++) {
    void* block = descend(depth);
    __asm__ volatile("" : : "r"(block) : "memory");
    free(block);
  }
}

static int compare(const void* a, const void* b) {
  const double left = *(const double*)a;
  const double right = *(const double*)b;
  return (left > right) - (left < right);
}

static double pair_ns(int depth, int batches) {
  run_batch(depth); /* makes the stack known to the tracer, and the caches warm */
  double before = now_ns();
  for (int i = 0; i < batches; i++) {
    run_batch(depth);
    const double after = now_ns();
    batch_ns[i] = after - before;
    before = after;
  }
  qsort(batch_ns, (size_t)batches, sizeof(batch_ns[0]), compare);
  return batch_ns[batches / 10] / kBatchPairs;
}

int main(void) {
  int depth;
  long pairs;
  while (scanf(" run %d %ld", &depth, &pairs) == 2) {
    const long batches = pairs / kBatchPairs;
    if (depth < 1 || batches < 1 || batches > kMaxBatches) {
      fprintf(stderr, "pairs: DEPTH from 1, PAIRS from %d to %d\n", kBatchPairs, kBatchPairs * kMaxBatches);
      return 2;
    }
    printf("%.2f\n", pair_ns(depth, (int)batches));
    fflush(stdout);
  }
  return 0;
}
