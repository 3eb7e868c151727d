// Threads that wait until what they have mapped is probed (--hold).
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/kernel/harness/child_process.h"
#include "tests/kernel/harness/kernel_test.h"
#include "tests/kernel/harness/ledger.h"
#include "tests/kernel/harness/own_libc.h"
#include "tests/kernel/harness/traced_family.h"
#include "tests/kernel/harness/tracefs.h"
#include "tests/support/scratch_directory.h"
#include "userspace/tracer/event_groups.h"

namespace hawk {
namespace {

/// Whose probes pass on.
constexpr Way kFollowWays[] = {Way::kPointsArena, Way::kPerfHash};
constexpr Way kPerfWay[] = {Way::kPerfHash};
constexpr Way kFileWays[] = {Way::kPointsArena, Way::kSessionArena};

/// Two files with allocators, which allocate nothing when they are loaded.
std::vector<std::string> allocators(const ScratchDirectory& directory) {
  const std::string first = ledger_path("libcounting_allocator.so"), second = directory.path("libcopied_allocator.so");
  std::filesystem::copy_file(first, second);
  return {first, second};
}

/// Processes that bring allocators along which no process before had mapped, and that are held meanwhile.
void expect_held_family(Way way, const std::string& how, const std::string& count, std::size_t processes,
                        std::vector<std::string> options = {}) {
  const ScratchDirectory directory;
  std::vector<std::string> words = {how, directory.path("ledger"), count};
  for (const std::string& library : allocators(directory)) words.push_back(library);
  options.emplace_back("--hold");
  const nlohmann::json report = trace_family(way, directory, words, options);
  EXPECT_TRUE(report.at("exact").get<bool>()) << report.at("losses");
  expect_same(read_family(directory.path("ledger")), family_in(report), processes);
}

KERNEL_TEST_ON(holding, another_allocator_in_each_process, kFollowWays) { expect_held_family(way, "preloads", "6", 7); }
KERNEL_TEST_ON(holding, another_allocator_by_links_for_files, kFileWays) {
  expect_held_family(way, "preloads", "6", 7, {"--links", "file"});
}
KERNEL_TEST_ON(holding, parents_do_not_see_it, kFollowWays) { expect_held_family(way, "watch", "4", 5); }
KERNEL_TEST_ON(holding, stopped_processes_stay_stopped, kFollowWays) { expect_held_family(way, "stopper", "2", 5); }

/// Ten seconds of 1,000 children a second, or as many as this machine makes while other tests run: HAWK_STORM=10000.
KERNEL_TEST_ON(holding, a_storm, kFollowWays) {
  const char* const wanted = std::getenv("HAWK_STORM");
  const std::string children = wanted != nullptr ? wanted : "1500";
  expect_family(way, "storm", children, std::stoul(children) + 1, {"--hold"});
}

/// A hawktrace that is stopped, and whose command has mapped an allocator since.
class StoppedHawktrace {
 public:
  explicit StoppedHawktrace(Way way)
      : hawktrace_({.argv = family_words(
                        way, directory_,
                        {"told", directory_.path("ledger"), "1", ledger_path("libcounting_allocator.so")}, {"--hold"}),
                    .environment = with_own_libc(directory_)}) {
    EXPECT_EQ(hawktrace_.read_line(), "ready");
    command_ = command_of(hawktrace_.pid());
    hawktrace_.send_signal(SIGSTOP);
    siginfo_t stopped = {};
    EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(hawktrace_.pid()), &stopped, WSTOPPED | WNOWAIT), 0);
    hawktrace_.send_byte();
    EXPECT_TRUE(comes_to([&] { return maps().find("libcounting_allocator") != std::string::npos; }));
  }

  ChildProcess& hawktrace() { return hawktrace_; }
  const ScratchDirectory& directory() const { return directory_; }
  /// The command has gone on, and written its line.
  void expect_end() {
    EXPECT_TRUE(comes_to([&] { return !read_family(directory_.path("ledger")).empty(); }));
    EXPECT_EQ(read_family(directory_.path("ledger")).begin()->second.allocated_count, 10U);
  }

 private:
  /// Asks again and again: hawktrace is stopped or dead, and a held thread cannot say what it has come to.
  static bool comes_to(const std::function<bool()>& is_so) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatienceMs);
    while (std::chrono::steady_clock::now() < until) {
      if (is_so()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  }
  std::string maps() const {
    std::ifstream file("/proc/" + std::to_string(command_.value_or(0)) + "/maps");
    return {std::istreambuf_iterator<char>(file), {}};
  }

  ScratchDirectory directory_;
  ChildProcess hawktrace_;
  std::optional<pid_t> command_;
};

/// Nothing is left to be undone.
KERNEL_TEST_ON(holding, a_killed_hawktrace_holds_no_thread, kFollowWays) {
  StoppedHawktrace test(way);
  test.hawktrace().send_signal(SIGKILL);
  EXPECT_EQ(test.hawktrace().wait(), 128 + SIGKILL);
  test.expect_end();
}

/// A hawktrace that has no events of its own.
void expect_trace_of_true() {
  ChildProcess trace({.argv = {HAWKTRACE_PATH, "--no-follow", "-q", "-o", "/dev/null", "--", "/bin/true"}});
  EXPECT_EQ(trace.wait(), 0) << trace.errors();
}

/// What a killed hawktrace leaves are names; the next one takes them away, whatever it does itself.
KERNEL_TEST_ON(holding, a_killed_hawktrace_leaves_nothing, kFollowWays) {
  StoppedHawktrace test(way);
  EventMaker maker = this_maker();
  maker.pid = test.hawktrace().pid();
  std::string its_events = ":" + group_name(maker, 0);
  its_events.erase(its_events.find("_" + std::to_string(maker.start_time)) + 1);
  EXPECT_NE(named_events().find(its_events), std::string::npos);
  test.hawktrace().send_signal(SIGKILL);
  EXPECT_EQ(test.hawktrace().wait(), 128 + SIGKILL);
  test.expect_end();
  expect_trace_of_true();
  EXPECT_EQ(named_events().find(its_events), std::string::npos);
}

/// The events of a group, which no process uses.
class NamedEvent {
 public:
  explicit NamedEvent(std::string group) : group_(std::move(group)) { in_tracefs(write("p:", " /bin/true:0x1000")); }
  explicit NamedEvent(const EventMaker& maker) : NamedEvent(group_name(maker, 0)) {}
  NamedEvent(const NamedEvent&) = delete;
  NamedEvent& operator=(const NamedEvent&) = delete;
  ~NamedEvent() { in_tracefs("if [ -d /mnt/events/" + group_ + " ]; then " + write("-:", "") + "; fi"); }
  bool is_there() const { return named_events().find(":" + group_ + "/e0 ") != std::string::npos; }

 private:
  std::string write(const std::string& before, const std::string& after) const {
    return "echo '" + before + group_ + "/e0" + after + "' >>/mnt/uprobe_events";
  }
  std::string group_;
};

/// There its maker may live, and use them: the kernel does not survive that they are taken from it. Those of an ended
/// maker are taken away by any hawktrace, of another test too.
KERNEL_TEST_ON(holding, events_of_another_pid_namespace_stay, kPerfWay) {
  const EventMaker self = this_maker();
  EventMaker ended = self;
  ChildProcess child({.argv = {"/bin/true"}});
  ended.pid = child.pid();
  EXPECT_EQ(child.wait(), 0);
  EventMaker elsewhere = ended;
  elsewhere.pid_namespace = 1;  // less than any that the kernel gives to a namespace
  const NamedEvent of_ended(ended), of_elsewhere(elsewhere), of_living(self);
  const NamedEvent of_older_version("hawktrace_" + std::to_string(ended.pid) + "_0");
  ASSERT_TRUE(of_elsewhere.is_there() && of_living.is_there() && of_older_version.is_there());
  expect_trace_of_true();
  EXPECT_FALSE(of_ended.is_there());
  EXPECT_TRUE(of_elsewhere.is_there());
  EXPECT_TRUE(of_living.is_there());
  EXPECT_TRUE(of_older_version.is_there());
}

/// For no longer than HAWK_LONGEST_HOLD_NS; what was missed is counted when it goes on.
KERNEL_TEST_ON(holding, a_stopped_hawktrace_holds_no_thread_for_long, kFollowWays) {
  StoppedHawktrace test(way);
  test.expect_end();
  test.hawktrace().send_signal(SIGCONT);
  EXPECT_EQ(test.hawktrace().read_to_end(), "");
  EXPECT_EQ(test.hawktrace().wait(), 0) << test.hawktrace().errors();
  const nlohmann::json report = nlohmann::json::parse(std::ifstream(test.directory().path("report")));
  EXPECT_FALSE(report.at("exact").get<bool>()) << report.at("losses");
}

}  // namespace
}  // namespace hawk
