#include "userspace/daemon/target_selector.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "tests/support/scratch_directory.h"

namespace hawk {
namespace {

constexpr int kPid = 4'000'001;  // of nobody: there are at most 4,194,304, and so many there never are

ProcessFacts process(int pid, std::uint64_t start_ticks) {
  return {.pid = pid, .parent = 1, .start_ticks = start_ticks, .comm = "app", .executable = "/app", .cgroups = {}};
}

class PidFile : public testing::Test {
 protected:
  void write(const std::string& text) const {
    // Another file, as programs do it that care: its time of change need not differ from that of the one before.
    std::ofstream(path_ + ".new") << text;
    ASSERT_EQ(::rename((path_ + ".new").c_str(), path_.c_str()), 0);
  }
  bool matches(const std::vector<ProcessFacts>& processes, const ProcessFacts& asked) {
    selector_.look(processes, {}, true);
    return selector_.matches(asked);
  }

  ScratchDirectory directory_;
  std::string path_ = directory_.path("app.pid");
  TargetSelector selector_ = TargetSelector(TargetConfig{.name = "app", .pid_file = path_});
};

TEST_F(PidFile, NamesAProcess) {
  EXPECT_FALSE(matches({process(kPid, 100)}, process(kPid, 100))) << "there is no file yet";
  write(std::to_string(kPid) + "\n");
  EXPECT_TRUE(matches({process(kPid - 1, 90), process(kPid, 100)}, process(kPid, 100)));
  EXPECT_FALSE(matches({process(kPid, 100)}, process(kPid - 1, 90)));
  EXPECT_EQ(selector_.objection(), "");
}

TEST_F(PidFile, ThatIsLeftBehindNamesNoStranger) {
  write(std::to_string(kPid));
  EXPECT_TRUE(matches({process(kPid, 100)}, process(kPid, 100)));
  EXPECT_FALSE(matches({}, process(kPid, 200))) << "it has ended";
  EXPECT_FALSE(matches({process(kPid, 200)}, process(kPid, 200)));
  EXPECT_NE(selector_.objection().find("names process 4000001, which has ended"), std::string::npos);
  write(std::to_string(kPid));
  EXPECT_TRUE(matches({process(kPid, 200)}, process(kPid, 200))) << "a service that has the number again";
  EXPECT_EQ(selector_.objection(), "");
}

TEST_F(PidFile, OfAUserNamesThatUsersProcesses) {
  if (::geteuid() != 0) GTEST_SKIP() << "a file is given to another user";
  write(std::to_string(::getpid()));
  EXPECT_TRUE(matches({process(::getpid(), 100)}, process(::getpid(), 100)));
  ASSERT_EQ(::chown(path_.c_str(), 65534, 65534), 0);
  EXPECT_FALSE(matches({process(::getpid(), 100)}, process(::getpid(), 100)));
  EXPECT_NE(selector_.objection().find("is a file of user 65534"), std::string::npos);
}

}  // namespace
}  // namespace hawk
