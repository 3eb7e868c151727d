#include "userspace/attach/file_users.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

namespace hawk {
namespace {

/// A copy of this process, which has its files.
class Copy {
 public:
  Copy() : pid_(::fork()) {
    if (pid_ != 0) return;
    for (;;) ::pause();
  }
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;
  ~Copy() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  int pid() const { return pid_; }

 private:
  int pid_;
};

/// With which two targets outweigh that many others.
constexpr LinkCosts kAllCount = {.link_ns = 1000, .stranger_ns = 1}, kTwoCount = {.link_ns = 1, .stranger_ns = 2};

TEST(FileUsers, CountsThoseWithTheSameFiles) {
  const Copy first, second, stranger;
  const std::vector<int> targets = {first.pid(), second.pid()};
  const FileUsers users = count_file_users(targets, kAllCount);
  EXPECT_EQ(users.targets, 2U);
  EXPECT_GE(users.others, 2U);  // `stranger` and this process
}

TEST(FileUsers, CountsNoFurtherThanItDecides) {
  const Copy first, second, stranger;
  const std::vector<int> targets = {first.pid(), second.pid()};
  EXPECT_EQ(count_file_users(targets, kTwoCount).others, 2U);
}

TEST(FileUsers, OfWhomThereIsNoneAnyMore) {
  int gone = 0;
  {
    const Copy copy;
    gone = copy.pid();
  }
  const std::vector<int> targets = {gone};
  EXPECT_EQ(count_file_users(targets, kAllCount).targets, 0U);
  EXPECT_EQ(count_file_users({}, kAllCount).others, 0U);
}

}  // namespace
}  // namespace hawk
