#include "userspace/attach/process_status.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

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

TEST(ProcessStatus, IsReadAgainFromTheSameFile) {
  StatusFile file(::getpid());
  const std::optional<ProcessMemory> before = memory_in_status(file.read());
  ASSERT_TRUE(before);
  constexpr std::size_t kBytes = 64 << 20;
  const std::unique_ptr<char[]> memory(new char[kBytes]);
  std::fill_n(memory.get(), kBytes, 1);
  const std::optional<ProcessMemory> after = memory_in_status(file.read());
  ASSERT_TRUE(after);
  EXPECT_GE(after->resident_bytes, before->resident_bytes + kBytes / 2);
}

TEST(ProcessStatus, OfAProcessThatHasEndedThereIsNone) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  StatusFile file(child);
  EXPECT_TRUE(memory_in_status(file.read()));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(file.read(), "");
  EXPECT_EQ(StatusFile(child).read(), "");
}

}  // namespace
}  // namespace hawk
