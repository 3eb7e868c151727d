#include "userspace/study/worker_usage.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/support/small_elf.h"
#include "tests/unit/study/file_orders.h"
#include "userspace/study/file_reader.h"

namespace hawk {
namespace {

/// With a worker that has answered: until then it may be anything between a copy of this process and itself.
class ReaderAtWork {
 public:
  ReaderAtWork() {
    Result<ElfLayout> file =
        ElfLayout::make(testing::small_elf({testing::code_segment(kCodeAt, kCodeAt, kCodeBytes)}), "a test's file");
    if (!file) throw std::runtime_error(file.error().what);
    const FileStudy study = reader_.read({.file = &*file, .wants = {.code = true, .table = true}});
    EXPECT_EQ(study.gap, "");
  }

 private:
  FileReader reader_ = FileReader(HAWK_FILE_WORKER);
};

void let_one_work() { const ReaderAtWork reader; }

TEST(WorkerUsage, PeaksOfThoseThatLivedOneAfterTheOtherAreNotAddedUp) {
  let_one_work();
  const WorkerUsage of_one = usage_of_workers();
  EXPECT_EQ(resident_bytes_of_workers(), 0U);
  EXPECT_GT(of_one.peak_resident_bytes, 100'000U);
  for (int i = 0; i < 10; ++i) let_one_work();
  EXPECT_LT(usage_of_workers().peak_resident_bytes, 3 * of_one.peak_resident_bytes);
}

TEST(WorkerUsage, IsOfAllThatLive) {
  const ReaderAtWork first;
  const std::uint64_t of_one = resident_bytes_of_workers();
  EXPECT_GT(of_one, 100'000U);
  EXPECT_GE(usage_of_workers().peak_resident_bytes, of_one);
  const ReaderAtWork second;
  const WorkerUsage of_both = usage_of_workers();
  const std::uint64_t resident = resident_bytes_of_workers();
  EXPECT_GT(resident, of_one);
  EXPECT_GE(of_both.peak_resident_bytes, resident);
  EXPECT_GT(of_both.cpu_ns, 0U);
}

}  // namespace
}  // namespace hawk
