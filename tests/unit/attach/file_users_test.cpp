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

TEST(FileUsers, CountsThoseWithTheSameFiles) {
  const Copy first, second, stranger;
  const std::vector<int> targets = {first.pid(), second.pid()};
  const FileUsers users = count_file_users(targets, false);
  EXPECT_EQ(users.targets, 2U);
  EXPECT_GE(users.others, 2U);  // `stranger` and this process
}

TEST(FileUsers, CountsNoFurtherThanItDecides) {
  const Copy first, second, stranger;
  const std::vector<int> targets = {first.pid(), second.pid()};
  EXPECT_EQ(count_file_users(targets, true).others, most_others_to_count(2));
}

TEST(FileUsers, OfWhomThereIsNoneAnyMore) {
  int gone = 0;
  {
    const Copy copy;
    gone = copy.pid();
  }
  const std::vector<int> targets = {gone};
  EXPECT_EQ(count_file_users(targets, false).targets, 0U);
  EXPECT_EQ(count_file_users({}, false).others, 0U);
}

}  // namespace
}  // namespace hawk
