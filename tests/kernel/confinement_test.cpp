// What reads a target's files has no rights: no call of the kernel that a damaged file could make it do harm with, and
// no memory without end. And what becomes of a report when such a process is gone.
#include <dirent.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/kernel/harness/ledger.h"

namespace hawk {
namespace {

using nlohmann::json;
using ::testing::AnyOf;
using ::testing::HasSubstr;

constexpr int kFailed = 0;
constexpr int kKilled = 128 + SIGSYS;

int status_of(const std::string& action) {
  ChildProcess actor({.argv = {HAWK_CONFINED_ACTOR, action}});
  return actor.wait();
}

TEST(confinement, ends_a_process_that_does_what_it_may_not) {
  for (const char* action : {"socket",
                             "netlink",
                             "ptrace",
                             "read_memory",
                             "exec",
                             "fork",
                             "clone",
                             "kill",
                             "bpf",
                             "perf_event",
                             "io_uring",
                             "user_namespace",
                             "become_root",
                             "limits_of_others",
                             "map_code",
                             "make_code",
                             "chmod",
                             "unlink",
                             "mount",
                             "signal_by_a_descriptor",
                             "choose_a_signal",
                             "lock_a_file"}) {
    EXPECT_EQ(status_of(action), kKilled) << action;
  }
}

TEST(confinement, opens_nothing) {
  for (const char* action : {"open", "create", "open_below_a_descriptor", "look_at_a_file"})
    EXPECT_EQ(status_of(action), kFailed) << action;
}

TEST(confinement, gives_no_more_memory_than_was_said) {
  for (const char* action : {"allocate_without_end", "map_without_end", "raise_its_limits"}) {
    EXPECT_EQ(status_of(action), kFailed) << action;
  }
}

TEST(confinement, lets_it_live_otherwise) { EXPECT_EQ(status_of("nothing"), kFailed); }

std::string read_file(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// The process that reads files for `hawktrace`, once there is one.
std::optional<pid_t> find_reader(pid_t hawktrace) {
  std::istringstream children(
      read_file("/proc/" + std::to_string(hawktrace) + "/task/" + std::to_string(hawktrace) + "/children"));
  for (pid_t child = 0; children >> child;) {
    if (read_file("/proc/" + std::to_string(child) + "/comm") == "hawktrace-read\n") return child;
  }
  return std::nullopt;
}

std::string status_line(pid_t pid, const std::string& key) {
  std::istringstream status(read_file("/proc/" + std::to_string(pid) + "/status"));
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(key + ":\t")) return line.substr(key.size() + 2);
  }
  return {};
}

/// A trace that reports time and again, of a program whose stacks have names.
class Reader : public ::testing::Test {
 protected:
  json next_with_stacks() {
    for (;;) {
      json report = json::parse(hawktrace_.read_line());
      if (!report.at("stacks").empty()) return report;
    }
  }
  void end() {
    hawktrace_.send_signal(SIGINT);
    while (hawktrace_.next_line()) continue;
    EXPECT_EQ(hawktrace_.wait(), 0);
  }

  LedgerProgram program_{{.program = "realloc_moves"}};
  ChildProcess hawktrace_{
      {.argv = {HAWKTRACE_PATH, "-p", std::to_string(program_.pid()), "--report-every", "100ms", "--format", "json"}}};
};

using NamesAreRead = Reader;

TEST_F(NamesAreRead, by_a_process_without_rights) {
  hawktrace_.read_line();
  program_.run();
  const json report = next_with_stacks();
  EXPECT_TRUE(report.at("stacks")[0].at("frames")[0].at("function").is_string()) << report;
  const std::optional<pid_t> reader = find_reader(hawktrace_.pid());
  ASSERT_TRUE(reader);
  for (const char* capabilities : {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"}) {
    EXPECT_EQ(status_line(*reader, capabilities), "0000000000000000") << capabilities;
  }
  EXPECT_EQ(status_line(*reader, "Uid"), "65534\t65534\t65534\t65534");
  EXPECT_EQ(status_line(*reader, "Groups"), " ");
  EXPECT_EQ(status_line(*reader, "NoNewPrivs"), "1");
  EXPECT_EQ(status_line(*reader, "Seccomp"), "2");
  EXPECT_EQ(read_file("/proc/" + std::to_string(*reader) + "/environ"), "");
  // Three that lead nowhere, the channel, and files with code.
  for (const auto& entry : std::filesystem::directory_iterator("/proc/" + std::to_string(*reader) + "/fd")) {
    const std::string link = std::filesystem::read_symlink(entry.path());
    const int number = std::stoi(entry.path().filename());
    const ::testing::Matcher<std::string> expected =
        number < 3    ? ::testing::Matcher<std::string>(HasSubstr("/dev/null"))
        : number == 3 ? ::testing::Matcher<std::string>(HasSubstr("socket:"))
                      : ::testing::Matcher<std::string>(AnyOf(HasSubstr("/statm"), HasSubstr(".so"),
                                                              HasSubstr("realloc_moves"), HasSubstr(".debug")));
    EXPECT_THAT(link, expected) << number;
  }
  end();
}

TEST_F(NamesAreRead, by_another_when_one_is_gone) {
  hawktrace_.read_line();
  program_.run();
  next_with_stacks();
  const std::optional<pid_t> reader = find_reader(hawktrace_.pid());
  ASSERT_TRUE(reader);
  ASSERT_EQ(::kill(*reader, SIGKILL), 0);
  const json report = next_with_stacks();
  EXPECT_TRUE(report.at("exact").get<bool>());
  EXPECT_TRUE(report.at("stacks")[0].at("frames")[0].at("function").is_string()) << report;
  end();
}

TEST_F(NamesAreRead, and_none_is_left_behind) {
  hawktrace_.read_line();
  program_.run();
  next_with_stacks();
  const std::optional<pid_t> reader = find_reader(hawktrace_.pid());
  ASSERT_TRUE(reader);
  hawktrace_.send_signal(SIGKILL);
  EXPECT_EQ(hawktrace_.wait(), 128 + SIGKILL);
  // It ends with the channel; whose process it is then may take a moment to see it.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatienceMs);
  while (read_file("/proc/" + std::to_string(*reader) + "/comm") == "hawktrace-read\n" &&
         status_line(*reader, "State").substr(0, 1) != "Z" && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  const std::string state = status_line(*reader, "State");
  EXPECT_TRUE(state.empty() || state[0] == 'Z') << state;
}

}  // namespace
}  // namespace hawk
