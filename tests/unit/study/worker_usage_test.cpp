#include "userspace/study/worker_usage.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <vector>

#include "userspace/study/worker_process.h"

namespace hawk {
namespace {

std::unique_ptr<WorkerProcess> started() {
  Result<std::unique_ptr<WorkerProcess>> worker = WorkerProcess::start(HAWK_FILE_WORKER);
  if (!worker) throw std::runtime_error(worker.error().what);
  return std::move(*worker);
}

TEST(WorkerUsage, PeaksOfThoseThatLivedOneAfterTheOtherAreNotAddedUp) {
  started();
  const WorkerUsage of_one = usage_of_workers();
  EXPECT_EQ(of_one.resident_bytes, 0U);
  EXPECT_GT(of_one.peak_resident_bytes, 100'000U);
  for (int i = 0; i < 10; ++i) started();
  EXPECT_LT(usage_of_workers().peak_resident_bytes, 3 * of_one.peak_resident_bytes);
}

TEST(WorkerUsage, IsOfAllThatLive) {
  const std::unique_ptr<WorkerProcess> first = started();
  const std::uint64_t of_one = usage_of_workers().resident_bytes;
  EXPECT_GT(of_one, 100'000U);
  const std::unique_ptr<WorkerProcess> second = started();
  const WorkerUsage of_both = usage_of_workers();
  EXPECT_GT(of_both.resident_bytes, of_one);
  EXPECT_GE(of_both.peak_resident_bytes, of_both.resident_bytes);
  EXPECT_GT(of_both.cpu_ns, 0U);
}

}  // namespace
}  // namespace hawk
