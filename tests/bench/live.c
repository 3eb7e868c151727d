/* Holds a given number of live blocks, and measures the cost of a call then.
 *
 *   bench_live MAX
 *   stdin:  build COUNT        allocates until COUNT blocks live, and times each call
 *           pair PAIRS         malloc and free, one after the other
 *           replace PAIRS      frees a live block chosen at random, and allocates another
 *   stdout: "= NANOSECONDS ALLOCATIONS"; for build also, in ns, the 50th and 99.99th percentile and the longest call,
 * how many calls took more than 1 ms; the last two once more in CPU time, without what the processor did for others
 * meanwhile; and the process' resident KiB */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "tests/bench/bench.h"

enum { kBytes = 64, kBatchPairs = 200, kMaxBatches = 5000, kSteps = 64, kPowers = 40 };

static void** blocks;
static long live;
static double batch_ns[kMaxBatches];
/* Calls by duration: kSteps for each power of two nanoseconds, so within 2 %. */
static long calls_by_ns[kPowers * kSteps];

static unsigned bucket_of(uint64_t ns) {
  if (ns < kSteps) return (unsigned)ns;
  const unsigned power = 63U - (unsigned)__builtin_clzll(ns);
  const unsigned bucket = (power - 5) * kSteps + (unsigned)(ns >> (power - 6)) - kSteps;
  return bucket < kPowers * kSteps ? bucket : kPowers * kSteps - 1;
}

/* The shortest duration that falls into a bucket. */
static double ns_of(unsigned bucket) {
  if (bucket < kSteps) return bucket;
  const unsigned power = bucket / kSteps + 5;
  return (double)((uint64_t)(kSteps + bucket % kSteps) << (power - 6));
}

static double percentile(long count, double share) {
  const double rank = (double)count * share;
  long seen = 0;
  for (unsigned bucket = 0; bucket < kPowers * kSteps; bucket++) {
    seen += calls_by_ns[bucket];
    if ((double)seen >= rank) return ns_of(bucket);
  }
  return 0;
}

static long resident_kib(void) {
  long kib = 0;
  char line[128];
  FILE* file = fopen("/proc/self/status", "r");
  if (file == NULL) return 0;
  while (fgets(line, sizeof(line), file) != NULL && sscanf(line, "VmRSS: %ld", &kib) != 1) {
  }
  fclose(file);
  return kib;
}

/* The longest of some calls, and how many took more than 1 ms. */
struct slow_calls {
  double longest;
  long count;
};

static void note_call(struct slow_calls* slow, double ns) {
  if (ns > slow->longest) slow->longest = ns;
  slow->count += ns > 1e6;
}

/* What the processor has done for this thread: not what it did meanwhile for others. */
static double own_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

BENCH_CALL static void build(long count) {
  const long before = live;
  struct slow_calls all = {0, 0};
  struct slow_calls own = {0, 0};
  double sum = 0;
  memset(calls_by_ns, 0, sizeof(calls_by_ns));
  double own_before = own_ns();
  while (live < count) {
    const double began = now_ns();
    blocks[live++] = malloc(kBytes);
    const double took = now_ns() - began;
    const double own_after = own_ns();
    calls_by_ns[bucket_of((uint64_t)took)]++;
    note_call(&all, took);
    note_call(&own, own_after - own_before);
    own_before = own_after;
    sum += took;
  }
  const long built = live - before;
  printf("= %.2f %ld %.0f %.0f %.0f %ld %.0f %ld %ld\n", built > 0 ? sum / (double)built : 0, built,
         percentile(built, 0.5), percentile(built, 0.9999), all.longest, all.count, own.longest, own.count,
         resident_kib());
  fflush(stdout);
}

static uint64_t next_random(void) {
  static uint64_t state = 0x9e3779b97f4a7c15;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

BENCH_CALL static void run_batch(int at_random) {
  for (int i = 0; i < kBatchPairs; i++) {
    if (!at_random) {
      void* block = malloc(kBytes);
      __asm__ volatile("" : : "r"(block) : "memory");
      free(block);
      continue;
    }
    void** chosen = &blocks[next_random() % (uint64_t)live];
    free(*chosen);
    *chosen = malloc(kBytes);
  }
}

static int compare(const void* a, const void* b) {
  const double left = *(const double*)a;
  const double right = *(const double*)b;
  return (left > right) - (left < right);
}

/* As in pairs.h: the batch that one tenth of all batches beat. */
static struct outcome time_pairs(int at_random, int batches) {
  run_batch(at_random);
  double before = now_ns();
  for (int i = 0; i < batches; i++) {
    run_batch(at_random);
    const double after = now_ns();
    batch_ns[i] = after - before;
    before = after;
  }
  qsort(batch_ns, (size_t)batches, sizeof(batch_ns[0]), compare);
  return (struct outcome){.ns = batch_ns[batches / 10] / kBatchPairs, .allocations = (batches + 1L) * kBatchPairs};
}

int main(int argc, char** argv) {
  const long max = argc == 2 ? atol(argv[1]) : 0;
  char command[16];
  long count;
  if (max < 1) {
    fprintf(stderr, "usage: %s MAX\n", argv[0]);
    return 2;
  }
  /* Not from the heap that is measured, and with every page in place. */
  blocks = mmap(NULL, (size_t)max * sizeof(*blocks), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE,
                -1, 0);
  if (blocks == MAP_FAILED) return 1;
  /* What else runs on the machine is in the longest call, too: less of it so. */
  setpriority(PRIO_PROCESS, 0, -20);
  while (scanf("%15s %ld", command, &count) == 2) {
    if (strcmp(command, "build") == 0 && count <= max) {
      build(count);
    } else if (count >= kBatchPairs && count / kBatchPairs <= kMaxBatches && live > 0) {
      answer(time_pairs(strcmp(command, "replace") == 0, (int)(count / kBatchPairs)));
    } else {
      return 2;
    }
  }
  return 0; /* blocks that live to the end are the point */
}
