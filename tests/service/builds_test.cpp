// The daemon, when a service is built anew again and again: what it knows of builds that are gone makes room.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/kernel/harness/child_process.h"
#include "tests/kernel/harness/ledger.h"
#include "tests/service/daemon_process.h"
#include "tests/service/recorded.h"

namespace hawk {
namespace {

constexpr int kBuilds = 8;

std::string path_of(int build) { return ledger_path("build_" + std::to_string(build)); }

/// One process, from its start to its end.
std::pair<pid_t, Ledger> run_once(DaemonProcess& daemon, int build, std::size_t others) {
  ChildProcess process({.argv = {path_of(build)}});
  EXPECT_EQ(process.read_line(), "ready");
  daemon.wait_for_processes(others + 1, others + 1);
  process.send_byte();
  process.close_input();
  std::pair<pid_t, Ledger> ran(process.pid(), read_ledger(process));
  EXPECT_EQ(process.wait(), 0);
  daemon.wait_for_processes(others, others);
  return ran;
}

/// What has run, by process.
using Ran = std::vector<std::pair<pid_t, Ledger>>;

/// A process that goes through all of it, while others come and go.
class Lasting {
 public:
  explicit Lasting(DaemonProcess& daemon) : daemon_(daemon), process_({.argv = {path_of(0)}}) {
    EXPECT_EQ(process_.read_line(), "ready");
    daemon_.wait_for_processes(1, 1);
  }

  void go_on() { process_.send_byte(); }

  /// The last one, and the daemon.
  void end(Ran& ran) {
    process_.close_input();
    ran.emplace_back(process_.pid(), read_ledger(process_));
    EXPECT_EQ(process_.wait(), 0);
    daemon_.wait_for_processes(0, 0);
    daemon_.finish();
  }

 private:
  DaemonProcess& daemon_;
  ChildProcess process_;
};

void expect_all_recorded(const DaemonProcess& daemon, const Ran& ran) {
  for (const auto& [pid, ledger] : ran) expect_recorded(daemon.recording("web"), pid, ledger);
}

void expect_no_warning(DaemonProcess& daemon) {
  const std::string said = daemon.process().errors();
  EXPECT_EQ(said.find("warning"), std::string::npos) << said;
}

/// Each build has 3,000 unwind rules of its own, and there is room for 16,384. One process is there all the time.
TEST(daemon, has_room_for_one_build_after_the_other) {
  Ran ran;
  DaemonProcess daemon(target_of("web", ledger_path("build_*")));
  Lasting lasting(daemon);
  std::map<std::string, std::size_t> before;
  for (int round = 0; round < 2; ++round) {
    for (int build = 0; build < kBuilds; ++build) {
      lasting.go_on();
      ran.push_back(run_once(daemon, build, 1));
    }
    const auto objects = daemon.kernel_objects_at_rest();
    if (round > 0) {
      EXPECT_EQ(objects, before);
    }
    before = objects;
  }
  lasting.end(ran);
  expect_all_recorded(daemon, ran);
  expect_no_warning(daemon);
}

/// Of each process there is a stack at addresses of its own; there is room for 12. One process is there all the time.
void run_one_after_the_other(const std::string& lines, const std::string& settings) {
  constexpr std::size_t kProcesses = 16;
  Ran ran;
  DaemonProcess daemon(target_of("web", ledger_path("build_*"), lines), {}, {}, settings);
  Lasting lasting(daemon);
  std::vector<std::size_t> maps;
  for (std::size_t i = 0; i < kProcesses; ++i) {
    lasting.go_on();
    ran.push_back(run_once(daemon, 1, 1));
    maps.push_back(daemon.kernel_objects()["anon_inode:bpf-map"]);
  }
  lasting.end(ran);
  expect_all_recorded(daemon, ran);
  const auto half = maps.begin() + kProcesses / 2;
  EXPECT_LE(*std::max_element(half, maps.end()), *std::max_element(maps.begin(), half)) << "it takes more and more";
  expect_no_warning(daemon);
}

TEST(daemon, has_room_for_the_stacks_of_one_process_after_the_other) {
  run_one_after_the_other("", "max-stacks = 16\n");
}

/// Of the numbers of stacks 2,048 are set aside for children.
TEST(daemon, has_room_for_the_stacks_of_processes_that_are_followed) {
  run_one_after_the_other("follow-children = true", "max-stacks = 2064\n");
}

/// Memory that is bounded is so for all tables together: others are made when no process is traced.
TEST(daemon, has_room_for_further_stacks_when_no_process_is_traced) {
  constexpr std::size_t kProcesses = 16;
  Ran ran;
  DaemonProcess daemon(target_of("web", ledger_path("build_*")), {}, {}, "max-stacks = 16\nmax-memory = \"64M\"\n");
  for (std::size_t i = 0; i < kProcesses; ++i) ran.push_back(run_once(daemon, 1, 0));
  daemon.finish();
  expect_all_recorded(daemon, ran);
}

}  // namespace
}  // namespace hawk
