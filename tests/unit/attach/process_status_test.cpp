#include "userspace/attach/process_status.h"

#include <gtest/gtest.h>

namespace hawk {
namespace {

TEST(ProcessStatus, NumbersAreThoseOfTheLineThatBeginsWithTheKey) {
  constexpr std::string_view kStatus = "Name:\tUid: 7\nNStgid:\t4242\t17\nUid:\t0\t1000\t0\t0\nVmRSS:\t    12 kB\n";
  EXPECT_EQ(numbers_in_status(kStatus, "NStgid"), (std::vector<std::uint64_t>{4242, 17}));
  EXPECT_EQ(numbers_in_status(kStatus, "Uid"), (std::vector<std::uint64_t>{0, 1000, 0, 0}));
  EXPECT_EQ(numbers_in_status(kStatus, "VmRSS"), (std::vector<std::uint64_t>{12}));
  EXPECT_TRUE(numbers_in_status(kStatus, "VmSwap").empty());
  EXPECT_TRUE(numbers_in_status("", "Uid").empty());
}

TEST(ProcessStatus, MemoryIsInBytes) {
  EXPECT_EQ(memory_in_status("VmRSS:\t 30 kB\nRssAnon:\t 20 kB\nVmSwap:\t 5 kB\n"),
            (ProcessMemory{.resident_bytes = 30720, .anonymous_bytes = 20480, .swapped_bytes = 5120, .live_bytes = 0}));
  EXPECT_EQ(memory_in_status("Name:\tzombie\nState:\tZ (zombie)\n"), std::nullopt) << "it has none any more";
}

}  // namespace
}  // namespace hawk
