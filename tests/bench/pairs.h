#ifndef HAWKTRACE_BENCH_PAIRS_H
#define HAWKTRACE_BENCH_PAIRS_H

#include "tests/bench/bench.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { kBatchPairs = 200, kMaxBatches = 20000, kMaxThreads = 16 };

/* What allocates; each block is freed again in the loop, out of the chain of calls. */
enum pair_kind {
  kPairMalloc,
  kPairCalloc,
  kPairRealloc, /* of a block whose neighbour is in use, so that it moves; what allocates that block is not timed */
  kPairMemalign,
};

/* Nanoseconds per pair of an allocation below `depth` calls and its free; `batches` times kBatchPairs of them.
 *
 * The pairs are timed in short batches, and the result is the batch that a tenth of all batches beat. What each pair
 * costs is in every batch; what the slower batches have on top is what else ran on a shared machine. On one with a load
 * of 11 the median of seven such figures repeats within 2 %, where the median batch itself moves by 30 %. */
struct outcome run_pairs(enum pair_kind kind, int depth, int batches);

/* The same for `threads` threads at a time, each on a processor of its own as far as there are any; the result is the
 * slowest thread's figure. */
struct outcome run_pairs_in_threads(int threads, int depth, int batches);

#ifdef __cplusplus
}
#endif

#endif
