#include "userspace/process/memory_reader.h"

#include <gtest/gtest.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <iterator>

namespace hawk {
namespace {

/// A process that waits, with a copy of this one's memory.
class Waiting {
 public:
  Waiting() : pid_(::fork()) {
    if (pid_ == 0) {
      for (;;) ::pause();
    }
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  ~Waiting() { end(); }

  pid_t pid() const { return pid_; }
  void end() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  pid_t pid_;
};

const char kText[] = "in both processes";

bool reads_text(MemoryReader& memory) {
  std::array<std::uint8_t, sizeof(kText)> bytes = {};
  return memory.read(reinterpret_cast<std::uint64_t>(kText), bytes) &&
         std::equal(bytes.begin(), bytes.end(), std::begin(kText));
}

/// Whether `memory` says that it cannot be read, in a process that no system call is allowed but _exit.
bool is_unreadable_without_system_calls(MemoryReader& memory) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    std::array<std::uint8_t, sizeof(kText)> bytes = {};
    ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
    const bool is_read = memory.read(reinterpret_cast<std::uint64_t>(kText), bytes);
    ::syscall(SYS_exit, is_read ? 1 : 0);
  }
  int status = -1;
  return ::waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(MemoryReader, ReadsWhatTheProcessHas) {
  const Waiting process;
  MemoryReader memory(process.pid());
  EXPECT_TRUE(reads_text(memory));
  EXPECT_FALSE(is_unreadable_without_system_calls(memory));
  std::array<std::uint8_t, 8> bytes = {};
  EXPECT_FALSE(memory.read(8, bytes));
  EXPECT_TRUE(reads_text(memory));
}

TEST(MemoryReader, AsksNothingMoreOfAProcessThatHasEnded) {
  Waiting read_before, never_read;
  const pid_t ended = never_read.pid();
  MemoryReader first(read_before.pid()), second(never_read.pid());
  EXPECT_TRUE(reads_text(first));
  for (Waiting* const process : {&read_before, &never_read}) process->end();
  for (MemoryReader* const memory : {&first, &second}) {
    EXPECT_FALSE(reads_text(*memory));
    EXPECT_TRUE(is_unreadable_without_system_calls(*memory));
  }
  MemoryReader third(ended);
  EXPECT_TRUE(is_unreadable_without_system_calls(third));
}

}  // namespace
}  // namespace hawk
