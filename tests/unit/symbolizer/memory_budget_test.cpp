#include "symbolizer/memory_budget.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cerrno>
#include <memory>

namespace hawk {
namespace {

/// Whether so much memory could be had.
bool can_have(std::size_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  ::munmap(memory, bytes);
  return true;
}

TEST(MemoryBudget, HoldsAsLongAsItLives) {
  constexpr std::size_t kMiB = std::size_t{1} << 20;
  EXPECT_TRUE(can_have(256 * kMiB));
  {
    const MemoryBudget budget(64 * kMiB);
    EXPECT_TRUE(can_have(32 * kMiB));
    EXPECT_FALSE(can_have(256 * kMiB));
    EXPECT_EQ(errno, ENOMEM);
  }
  EXPECT_TRUE(can_have(256 * kMiB));
}

TEST(MemoryBudget, NeverWidensALimit) {
  rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_DATA, &before), 0);
  const MemoryBudget narrow(std::size_t{64} << 20);
  rlimit narrowed = {};
  ASSERT_EQ(::getrlimit(RLIMIT_DATA, &narrowed), 0);
  {
    const MemoryBudget wide(std::size_t{1} << 40);
    rlimit now = {};
    ASSERT_EQ(::getrlimit(RLIMIT_DATA, &now), 0);
    EXPECT_LE(now.rlim_cur, narrowed.rlim_cur);
  }
  rlimit after = {};
  ASSERT_EQ(::getrlimit(RLIMIT_DATA, &after), 0);
  EXPECT_EQ(after.rlim_cur, narrowed.rlim_cur);
  EXPECT_EQ(after.rlim_max, before.rlim_max);
}

}  // namespace
}  // namespace hawk
