// Recordings: that a report made of one equals the live report, byte for byte, and that one which was not ended can be
// read.
#include <gtest/gtest.h>
#include <limits.h>
#include <nlohmann/json.hpp>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/kernel/harness/ledger.h"
#include "tests/kernel/harness/recorder.h"
#include "tests/support/scratch_directory.h"
#include "userspace/base/unique_fd.h"

namespace hawk {
namespace {

using nlohmann::json;

/// The live report of a trace of `program`, and what is made of its recording.
void expect_same_report(const std::string& program_name, const std::string& format) {
  SCOPED_TRACE(program_name);
  const ScratchDirectory directory;
  const std::string recording = directory.path("heap.hawk");
  const std::string live = directory.path("live");
  const Words options = {"--format", format};
  record_ledger(program_name, recording, options + Words{"--report", live});
  EXPECT_GT(content_of(live).size(), 500U);
  EXPECT_EQ(report_of(recording, options), content_of(live));
}

TEST(recording, a_report_of_it_equals_the_live_one) {
  expect_same_report("recursion", "text");
  expect_same_report("operators_without_frames", "json");
  expect_same_report("signal_frames", "json");
  expect_same_report("stack_table_full", "json");
}

/// The same of a command that has a child and then replaces its program.
void expect_same_report_at(const std::string& interval) {
  SCOPED_TRACE(interval);
  const ScratchDirectory directory;
  ChildProcess hawktrace({.argv = {HAWKTRACE_PATH, "record", "-o", directory.path("heap.hawk"), "--report",
                                   directory.path("live"), "--format", "json", "--interval", interval, "--", "/bin/sh",
                                   "-c", "x=$(/bin/true); exec sort /etc/passwd"}});
  hawktrace.read_to_end();
  EXPECT_EQ(hawktrace.wait(), 0) << hawktrace.errors();
  EXPECT_EQ(report_of(directory.path("heap.hawk"), {"--format", "json"}), content_of(directory.path("live")));
}

TEST(recording, equals_the_live_report_of_a_command_that_replaces_its_program) { expect_same_report_at("100ms"); }

TEST(recording, equals_the_live_report_if_a_child_ends_before_the_first_interval) { expect_same_report_at("1h"); }

TEST(recording, holds_the_names_of_threads) {
  const ScratchDirectory directory;
  record_ledger("pinned_threads", directory.path("heap.hawk"),
                {"--report", directory.path("live"), "--format", "json"});
  const std::string report = report_of(directory.path("heap.hawk"), {"--format", "json"});
  EXPECT_EQ(report, content_of(directory.path("live")));
  const json document = json::parse(report);
  const json& target = document.at("target");
  const json& threads = target.at("threads");
  ASSERT_EQ(threads.size(), 3U) << threads;
  EXPECT_EQ(threads[0].at("tid"), target.at("pid"));
  EXPECT_EQ(threads[0].at("name"), "pinned_threads");
  EXPECT_TRUE(threads[0].at("gone_ns").is_null());
  for (const char* name : {"left", "right"}) {
    const auto thread =
        std::find_if(threads.begin(), threads.end(), [&](const json& t) { return t.at("name") == name; });
    ASSERT_NE(thread, threads.end()) << threads;
    EXPECT_EQ(thread->at("first_seen_ns"), 0);
    EXPECT_GT(thread->at("gone_ns"), 0) << "it has ended before the trace";
    EXPECT_LE(thread->at("gone_ns"), document.at("trace").at("duration_ns"));
  }
}

TEST(recording, holds_names_of_generated_code) {
  const ScratchDirectory directory;
  std::string map;
  {
    LedgerProgram program({.program = "jit_region"});
    map = "/tmp/perf-" + std::to_string(program.pid()) + ".map";
    std::ofstream(map) << "1000 7ffffffff000 made::of_words\n";
    Recorder recorder(program.pid(), directory.path("heap.hawk"),
                      {"--report", directory.path("live"), "--format", "json"});
    program.run();
    recorder.finish();
  }
  ::unlink(map.c_str());
  const std::string report = report_of(directory.path("heap.hawk"), {"--format", "json"});
  EXPECT_EQ(report, content_of(directory.path("live")));
  EXPECT_NE(report.find("made::of_words"), std::string::npos);
}

/// Waits until a file grows, or a directory.
class Growth {
 public:
  explicit Growth(const std::string& path) : events_(::inotify_init1(IN_CLOEXEC)) {
    EXPECT_GE(::inotify_add_watch(events_.get(), path.c_str(), IN_MODIFY | IN_CREATE), 0);
  }
  bool wait() {
    char event[sizeof(inotify_event) + NAME_MAX + 1];
    return wait_readable(events_.get()) && ::read(events_.get(), event, sizeof event) > 0;
  }

 private:
  UniqueFd events_;
};

TEST(recording, that_was_killed_can_be_read_and_harms_nothing) {
  const ScratchDirectory directory;
  const std::string recording = directory.path("heap.hawk");
  LedgerProgram program({.program = "realloc_moves"});
  Recorder recorder(program.pid(), recording);
  Growth growth(recording);
  program.run();
  ASSERT_TRUE(growth.wait());
  recorder.process().send_signal(SIGKILL);
  EXPECT_EQ(recorder.process().wait(), 128 + SIGKILL);
  ChildProcess hawktrace({.argv = {HAWKTRACE_PATH, "report", recording, "--format", "json"}});
  const json report = json::parse(hawktrace.read_to_end());
  EXPECT_EQ(hawktrace.wait(), 0);
  EXPECT_NE(hawktrace.errors().find("it is truncated after interval "), std::string::npos) << hawktrace.errors();
  EXPECT_EQ(report.at("target").at("pid"), program.pid());
}

TEST(recording, on_a_full_disk_ends_with_one_error_and_can_be_read) {
  const ScratchDirectory directory;
  ASSERT_EQ(::mount("none", directory.path().c_str(), "tmpfs", 0, "size=64k"), 0) << errno;
  const std::string recording = directory.path("heap.hawk");
  {
    LedgerProgram program({.program = "hundred_thousand_stacks"});
    Recorder recorder(program.pid(), recording);
    ASSERT_TRUE(Growth(recording).wait());  // an interval without stacks
    program.run();
    EXPECT_EQ(recorder.process().wait(), 6);
    const std::string errors = recorder.process().errors();
    EXPECT_NE(errors.find("write " + recording + ": No space left on device"), std::string::npos) << errors;
    EXPECT_EQ(errors.find("error", errors.find("error") + 1), std::string::npos) << errors;
  }
  EXPECT_NE(report_of(recording, {}).find("hundred_thousan"), std::string::npos);
  EXPECT_EQ(::umount(directory.path().c_str()), 0);
}

TEST(recording, goes_on_in_another_file) {
  const ScratchDirectory directory;
  Growth growth(directory.path());
  LedgerProgram program({.program = "realloc_moves"});
  Recorder recorder(program.pid(), directory.path("heap.hawk"),
                    {"--rotate-every", "100ms", "--report", directory.path("live"), "--format", "json"});
  while (!std::filesystem::exists(directory.path("heap.hawk.2"))) ASSERT_TRUE(growth.wait());
  program.run();
  recorder.finish();
  std::string last = directory.path("heap.hawk");
  for (int number = 2; std::filesystem::exists(directory.path("heap.hawk." + std::to_string(number))); ++number) {
    ChildProcess reported({.argv = {HAWKTRACE_PATH, "report", last}});
    reported.read_to_end();
    EXPECT_EQ(reported.wait(), 0);
    EXPECT_EQ(reported.errors(), "") << "each file is ended";
    last = directory.path("heap.hawk." + std::to_string(number));
  }
  EXPECT_EQ(report_of(last, {"--format", "json"}), content_of(directory.path("live")));
}

TEST(recording, what_is_there_is_not_overwritten_unasked) {
  const ScratchDirectory directory;
  std::ofstream(directory.path("heap.hawk")) << "precious";
  const Words words = {HAWKTRACE_PATH, "record", "-o", directory.path("heap.hawk"), "--", "/bin/true"};
  ChildProcess refused({.argv = words});
  EXPECT_EQ(refused.wait(), 125);
  EXPECT_NE(refused.errors().find("the file exists"), std::string::npos) << refused.errors();
  EXPECT_EQ(content_of(directory.path("heap.hawk")), "precious");
  ChildProcess forced({.argv = Words{HAWKTRACE_PATH, "record", "--force"} + Words(words.begin() + 2, words.end())});
  EXPECT_EQ(forced.wait(), 0) << forced.errors();
  EXPECT_NE(report_of(directory.path("heap.hawk"), {}).find("true (pid "), std::string::npos);
}

}  // namespace
}  // namespace hawk
