// Several processes, traced and recorded at once: each has its own numbers, as if it were alone, and the report has
// their sums.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <signal.h>

#include <fstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/kernel/harness/compare.h"
#include "tests/kernel/harness/kernel_test.h"
#include "tests/kernel/harness/ledger.h"
#include "tests/kernel/harness/ready_pipe.h"
#include "tests/kernel/harness/recorded_trace.h"
#include "tests/kernel/harness/report.h"
#include "tests/kernel/harness/target_report.h"
#include "tests/support/scratch_directory.h"

namespace hawk {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

/// A hawktrace that records processes; every probe is in place.
class SeveralRecorder {
 public:
  SeveralRecorder(Way way, const Words& pids) : process_(setup(way, pids)) {
    EXPECT_TRUE(ready_.wait()) << process_.errors();
  }

  ChildProcess& process() { return process_; }
  void finish() {
    process_.send_signal(SIGINT);
    EXPECT_EQ(process_.wait(), 0) << process_.errors();
  }
  void expect_end() { EXPECT_EQ(process_.wait(), 0) << process_.errors(); }

  /// Expects that a process has what its ledger says: in the recording, and as its part of the live report. Returns
  /// what the recording has.
  Report expect_process(const std::string& pid, std::size_t place, const Ledger& ledger) const {
    const json part = report_of_target(live(), place);
    EXPECT_EQ(part.at("target").at("pid"), std::stoi(pid));
    std::ofstream(directory_.path("part")) << part;
    expect_equal(read_report(directory_.path("part")), ledger);
    recorded(pid);
    Report report = read_report(directory_.path(pid));
    expect_equal(report, ledger);
    return report;
  }

  /// Expects that the report is of so many processes, and the recording's of all of them the same. Peaks are of other
  /// moments: a recording has the processes' intervals one after the other.
  void expect_sum_of(std::size_t processes) const {
    json now = live();
    json all = recorded("all");
    EXPECT_TRUE(now.at("target").is_null());
    EXPECT_EQ(now.at("targets").size(), processes);
    const json& totals = all.at("totals");
    EXPECT_GE(totals.at("peak_live_bytes_most"), totals.at("peak_live_bytes"));
    for (json* report : {&now, &all})
      for (const char* peak : {"peak_live_bytes", "peak_live_bytes_most"}) (*report)["totals"].erase(peak);
    EXPECT_TRUE(now == all) << json::diff(now, all);
    for (const char* number :
         {"live_bytes", "live_count", "allocated_bytes", "allocated_count", "freed_bytes", "freed_count"}) {
      std::uint64_t sum = 0;
      for (const json& target : now.at("targets")) sum += target.at("totals").at(number).get<std::uint64_t>();
      EXPECT_EQ(now.at("totals").at(number), sum) << number;
      for (const json& stack : now.at("stacks")) {
        std::uint64_t shares = 0;
        for (const json& share : stack.at("by_target")) shares += share.at(number).get<std::uint64_t>();
        EXPECT_EQ(stack.at(number), shares) << number;
      }
    }
  }
  std::string recording() const { return directory_.path("heaps.hawk"); }

 private:
  json live() const { return json::parse(std::ifstream(directory_.path("live"))); }

  json recorded(const std::string& target) const {
    const std::string path = directory_.path(target);
    ChildProcess hawktrace({.argv = {HAWKTRACE_PATH, "report", recording(), "-q", "--format", "json", "--top", "0",
                                     "--target", target, "-o", path}});
    EXPECT_EQ(hawktrace.read_to_end(), "");
    EXPECT_EQ(hawktrace.wait(), 0) << hawktrace.errors();
    return json::parse(std::ifstream(path));
  }

  ChildProcess::Setup setup(Way way, const Words& pids) {
    Words words = recording_command(way, directory_.path("live"), recording());
    std::string list;
    for (const std::string& pid : pids) list += (list.empty() ? "" : " ") + pid;
    words.insert(words.end(), {"--interval", "100ms", "-p", list, "--ready-fd", std::to_string(ready_.write_end())});
    return {.argv = words, .inherited = {ready_.write_end()}};
  }

  ScratchDirectory directory_;
  ReadyPipe ready_;
  ChildProcess process_;
};

std::string pid_of(const LedgerProgram& program) { return std::to_string(program.pid()); }

/// Two of them are the same program, whose blocks have the same addresses.
KERNEL_TEST(several_targets, equal_their_ledgers) {
  LedgerProgram first({.program = "every_function"});
  LedgerProgram same({.program = "every_function"});
  LedgerProgram other({.program = "recursion"});
  SeveralRecorder recorder(way, {pid_of(first), pid_of(same), pid_of(other)});
  const Ledger of_other = other.run();
  const Ledger of_first = first.run();
  const Ledger of_same = same.run();
  recorder.finish();
  recorder.expect_process(pid_of(first), 0, of_first);
  recorder.expect_process(pid_of(same), 1, of_same);
  recorder.expect_process(pid_of(other), 2, of_other);
  recorder.expect_sum_of(3);
}

/// The end of one is no end of the others, and the last one's is that of the trace.
KERNEL_TEST(several_targets, end_one_after_the_other) {
  LedgerProgram ending({.program = "ends", .arguments = {"wait"}});
  LedgerProgram staying({.program = "ends", .arguments = {"wait"}});
  SeveralRecorder recorder(way, {pid_of(ending), pid_of(staying)});
  const Ledger of_ending = ending.run();
  ending.send_signal(SIGKILL);
  EXPECT_EQ(ending.wait(), 128 + SIGKILL);
  const Ledger of_staying = staying.run();
  staying.send_signal(SIGKILL);
  EXPECT_EQ(staying.wait(), 128 + SIGKILL);
  recorder.expect_end();
  for (const auto& [pid, place, ledger] :
       {std::tuple(pid_of(ending), 0U, of_ending), std::tuple(pid_of(staying), 1U, of_staying)}) {
    EXPECT_TRUE(recorder.expect_process(pid, place, ledger).target_exited);
  }
  recorder.expect_sum_of(2);
}

/// However they are named, and in formats that hold a single report.
TEST(several_targets, have_one_report) {
  LedgerProgram one({.program = "ends", .arguments = {"wait"}});
  LedgerProgram other({.program = "ends", .arguments = {"wait"}});
  const std::string both = pid_of(one) + " " + pid_of(other);
  const auto report = [](const Words& words) {
    Words argv = {HAWKTRACE_PATH, "-q", "--duration", "0.25"};
    argv.insert(argv.end(), words.begin(), words.end());
    ChildProcess hawktrace({.argv = argv});
    std::string text = hawktrace.read_to_end();
    EXPECT_EQ(hawktrace.wait(), 0) << hawktrace.errors();
    return text;
  };
  for (const Words& words : {Words{"-p", both}, Words{"-p", pid_of(one), pid_of(other)}}) {
    const std::string text = report(words);
    EXPECT_TRUE(text.starts_with("2 processes, traced for ")) << text;
    EXPECT_NE(text.find("(pid " + pid_of(one) + "): exact"), std::string::npos) << text;
    EXPECT_NE(text.find("(pid " + pid_of(other) + "): exact"), std::string::npos) << text;
    EXPECT_EQ(text.find("processes, traced for ", 20), std::string::npos) << "one report" << text;
  }
  EXPECT_TRUE(report({"-p", both, "--format", "pprof"}).starts_with("\x1f\x8b"));
  // A document a line, each of both.
  const std::string lines = report({"-p", both, "--format", "json", "--report-every", "100ms"});
  for (std::size_t at = 0, end; (end = lines.find('\n', at)) != std::string::npos; at = end + 1) {
    const json document = json::parse(lines.substr(at, end - at));
    EXPECT_EQ(document.at("targets").size(), 2U);
    EXPECT_TRUE(document.at("exact"));
  }
}

/// Which process it is of which something is missing is said, and the whole is not exact.
TEST(several_targets, one_that_is_not_exact_is_named) {
  LedgerProgram exact({.program = "every_function"});
  LedgerProgram forking({.program = "fork_children"});
  ReadyPipe ready;
  const ScratchDirectory directory;
  ChildProcess hawktrace(
      {.argv = {HAWKTRACE_PATH, "-q", "--require-exact", "--format", "json", "-o", directory.path("report"), "-p",
                pid_of(exact) + "," + pid_of(forking), "--ready-fd", std::to_string(ready.write_end())},
       .inherited = {ready.write_end()}});
  ASSERT_TRUE(ready.wait()) << hawktrace.errors();
  exact.run();
  forking.run();
  hawktrace.send_signal(SIGINT);
  EXPECT_EQ(hawktrace.wait(), 5);
  EXPECT_NE(
      hawktrace.errors().find("--require-exact: process " + pid_of(forking) + ": child processes were not traced"),
      std::string::npos)
      << hawktrace.errors();
  EXPECT_EQ(hawktrace.errors().find("process " + pid_of(exact)), std::string::npos) << hawktrace.errors();
  const json report = json::parse(std::ifstream(directory.path("report")));
  EXPECT_FALSE(report.at("exact"));
  EXPECT_TRUE(report.at("targets")[0].at("exact"));
  EXPECT_FALSE(report.at("targets")[1].at("exact"));
}

}  // namespace
}  // namespace hawk
