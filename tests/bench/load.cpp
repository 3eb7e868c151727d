// Allocates on request, so that the same process is measured under each tracer in turn.
//
//   stdin:  malloc|calloc|realloc|memalign DEPTH PAIRS     see run_pairs
//           threads COUNT DEPTH PAIRS                      see run_pairs_in_threads
//           list THREADS ELEMENTS                          see run_lists
//           growth MIB SMALL                               see run_growth
//           mapping COUNT                                  COUNT regions of two pages, each mapped and unmapped again
//           keep COUNT                                     COUNT blocks that are never freed
//           fork COUNT                                     COUNT copies of the process, which end with it
//   stdout: "= NANOSECONDS ALLOCATIONS", nanoseconds per operation
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <thread>

#include "tests/bench/bench.h"
#include "tests/bench/pairs.h"
#include "tests/bench/work.h"

namespace {

constexpr std::array<const char*, 4> kPairNames{"malloc", "calloc", "realloc", "memalign"};

bool are_batches(long pairs) { return pairs >= kBatchPairs && pairs / kBatchPairs <= kMaxBatches; }

/// For tracers that only report remaining blocks: proof that they saw something.
BENCH_CALL outcome keep(long count) {
  for (long i = 0; i < count; i++) {
    void* block = std::malloc(64);
    __asm__ volatile("" : : "r"(block) : "memory");
  }
  return {.ns = 0, .allocations = count};
}

/// Told is the batch that a tenth of all batches beat: see run_pairs.
BENCH_CALL outcome run_mappings(long count) {
  constexpr long kBatches = 100;
  constexpr std::size_t kRegionBytes = 8192;
  std::array<double, kBatches> took{};
  for (double& batch : took) {
    const double began = now_ns();
    for (long i = 0; i < count / kBatches; i++) {
      void* region = mmap(nullptr, kRegionBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (region == MAP_FAILED) return {.ns = -1, .allocations = 0};
      munmap(region, kRegionBytes);
    }
    batch = now_ns() - began;
  }
  std::sort(took.begin(), took.end());
  return {.ns = took[kBatches / 10] / static_cast<double>(count / kBatches), .allocations = 0};
}

/// They do nothing. How long a fork takes, and that they are there, is what counts.
outcome fork_copies(long count) {
  const double began = now_ns();
  for (long i = 0; i < count; i++) {
    if (fork() != 0) continue;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) pause();
  }
  return {.ns = (now_ns() - began) / static_cast<double>(count), .allocations = 0};
}

/// What leaves holes in the heap has one of its own: blocks that shall move would grow into them.
template <class Work>
outcome run_apart(Work work) {
  outcome done{};
  std::thread([&] { done = work(); }).join();
  return done;
}

std::optional<outcome> obey(const char* line) {
  char name[16];
  long a = 0;
  long b = 0;
  long c = 0;
  const int count = std::sscanf(line, "%15s %ld %ld %ld", name, &a, &b, &c);
  for (std::size_t kind = 0; kind < kPairNames.size(); kind++) {
    if (std::strcmp(name, kPairNames[kind]) != 0) continue;
    if (count != 3 || a < 1 || !are_batches(b)) return std::nullopt;
    const auto run = [&] {
      return run_pairs(static_cast<pair_kind>(kind), static_cast<int>(a), static_cast<int>(b / kBatchPairs));
    };
    return kind == kPairMemalign ? run_apart(run) : run();
  }
  if (std::strcmp(name, "threads") == 0 && count == 4 && a >= 1 && a <= kMaxThreads && b >= 1 && are_batches(c)) {
    return run_pairs_in_threads(static_cast<int>(a), static_cast<int>(b), static_cast<int>(c / kBatchPairs));
  }
  if (std::strcmp(name, "list") == 0 && count == 3 && a >= 1 && b >= 1) return run_lists(static_cast<int>(a), b);
  if (std::strcmp(name, "growth") == 0 && count == 3 && a >= 1 && b >= 1)
    return run_apart([&] { return run_growth(a, b); });
  if (std::strcmp(name, "mapping") == 0 && count == 2 && a >= 100) return run_mappings(a);
  if (std::strcmp(name, "keep") == 0 && count == 2) return keep(a);
  if (std::strcmp(name, "fork") == 0 && count == 2 && a >= 1) return fork_copies(a);
  return std::nullopt;
}

}  // namespace

int main() {
  char line[128];
  while (std::fgets(line, sizeof(line), stdin) != nullptr) {
    const std::optional<outcome> done = obey(line);
    if (!done) {
      std::fprintf(stderr, "load: not understood: %s", line);
      return 2;
    }
    answer(*done);
  }
  return 0;
}
