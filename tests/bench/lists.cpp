#include <list>
#include <thread>
#include <vector>

#include "tests/bench/work.h"

namespace {

BENCH_CALL void fill(std::list<long>& list, long elements) {
  for (long i = 0; i < elements; i++) list.push_back(i);
}

BENCH_CALL void build_and_destroy(long elements) {
  std::list<long> list;
  fill(list, elements);
}

}  // namespace

extern "C" outcome run_lists(int threads, long elements) {
  const double before = now_ns();
  std::vector<std::thread> running;
  running.reserve(static_cast<std::size_t>(threads));
  for (int i = 0; i < threads; i++) running.emplace_back(build_and_destroy, elements);
  for (std::thread& thread : running) thread.join();
  const double all = static_cast<double>(elements) * threads;
  return {.ns = (now_ns() - before) / all, .allocations = elements * threads};
}
