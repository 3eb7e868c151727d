#define _GNU_SOURCE
#include "tests/bench/pairs.h"

#include <float.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

enum { kBytes = 64, kAlignment = 64, kShortBytes = 24, kLongBytes = 104 };

/* One job per thread; static, because nothing but the pairs shall allocate. */
struct job {
  enum pair_kind kind;
  int depth;
  int batches;
  int number;
  struct outcome outcome;
  double batch_ns[kMaxBatches];
};
static struct job jobs[kMaxThreads];
static pthread_barrier_t all_ready;

static void* allocate_one(enum pair_kind kind, void* old) {
  void* block = NULL;
  switch (kind) {
    case kPairMalloc:
      return malloc(kBytes);
    case kPairCalloc:
      return calloc(1, kBytes);
    case kPairRealloc:
      return realloc(old, kLongBytes);
    case kPairMemalign:
      return posix_memalign(&block, kAlignment, kBytes) == 0 ? block : NULL;
  }
  return NULL;
}

BENCH_CALL static void* descend(enum pair_kind kind, int depth, void* old) {
  void* block = depth > 1 ? descend(kind, depth - 1, old) : allocate_one(kind, old);
  __asm__ volatile("" ::: "memory");
  return block;
}

/* Returns the nanoseconds that the pairs took; DBL_MAX if blocks did not move that should have. The lengths of blocks
 * to be moved are those of glibc's fast bins: freed ones stay apart, so that a neighbour is free to grow into only
 * where a hole in the heap ends. That is one in a hundred at most, but for the batches after glibc has joined the freed
 * ones. */
BENCH_CALL static double run_batch(enum pair_kind kind, int depth) {
  void* olds[kBatchPairs + 1] = {NULL};
  int stayed = 0;
  if (kind == kPairRealloc) {
    for (int i = 0; i <= kBatchPairs; i++) olds[i] = malloc(kShortBytes);
  }
  const double before = now_ns();
  for (int i = 0; i < kBatchPairs; i++) {
    void* block = descend(kind, depth, olds[i]);
    stayed += block == olds[i];
    free(block);
  }
  const double after = now_ns();
  free(olds[kBatchPairs]);
  return stayed <= kBatchPairs / 100 ? after - before : DBL_MAX;
}

static int compare(const void* a, const void* b) {
  const double left = *(const double*)a;
  const double right = *(const double*)b;
  return (left > right) - (left < right);
}

static struct outcome run_job(struct job* job) {
  const long calls = job->kind == kPairRealloc ? 2 * kBatchPairs + 1 : kBatchPairs;
  struct outcome outcome = {.ns = -1, .allocations = (job->batches + 1L) * calls};
  run_batch(job->kind, job->depth); /* makes the stack known to the tracer, and the caches warm */
  for (int i = 0; i < job->batches; i++) job->batch_ns[i] = run_batch(job->kind, job->depth);
  qsort(job->batch_ns, (size_t)job->batches, sizeof(job->batch_ns[0]), compare);
  /* Of the batches that moved their blocks, which have to be most. */
  if (job->batch_ns[job->batches * 3 / 4] < DBL_MAX) outcome.ns = job->batch_ns[job->batches / 10] / kBatchPairs;
  return outcome;
}

struct outcome run_pairs(enum pair_kind kind, int depth, int batches) {
  jobs[0].kind = kind;
  jobs[0].depth = depth;
  jobs[0].batches = batches;
  return run_job(&jobs[0]);
}

/* The thread's own processor: the number-th of those that the process may use. */
static void pin(int number) {
  cpu_set_t allowed;
  cpu_set_t own;
  CPU_ZERO(&own);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return;
  int left = number % CPU_COUNT(&allowed);
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
    if (CPU_ISSET(cpu, &allowed) && left-- == 0) CPU_SET(cpu, &own);
  }
  pthread_setaffinity_np(pthread_self(), sizeof(own), &own);
}

static void* run_thread(void* argument) {
  struct job* job = argument;
  pin(job->number);
  pthread_barrier_wait(&all_ready);
  job->outcome = run_job(job);
  return NULL;
}

struct outcome run_pairs_in_threads(int threads, int depth, int batches) {
  struct outcome outcome = {.ns = 0, .allocations = 0};
  pthread_t handles[kMaxThreads];
  pthread_barrier_init(&all_ready, NULL, (unsigned)threads);
  for (int i = 0; i < threads; i++) {
    jobs[i].kind = kPairMalloc;
    jobs[i].depth = depth;
    jobs[i].batches = batches;
    jobs[i].number = i;
    if (pthread_create(&handles[i], NULL, run_thread, &jobs[i]) != 0) exit(1);
  }
  for (int i = 0; i < threads; i++) {
    pthread_join(handles[i], NULL);
    if (jobs[i].outcome.ns > outcome.ns) outcome.ns = jobs[i].outcome.ns;
    outcome.allocations += jobs[i].outcome.allocations;
  }
  pthread_barrier_destroy(&all_ready);
  return outcome;
}
