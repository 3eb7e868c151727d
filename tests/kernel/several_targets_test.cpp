// Several processes, traced and recorded at once: each has its own numbers, as if it were alone.
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

  /// What the recording has of a process, which is what the live report had at that place.
  Report report_of(const std::string& pid, std::size_t place) const {
    const std::string path = directory_.path(pid);
    ChildProcess hawktrace({.argv = {HAWKTRACE_PATH, "report", recording(), "-q", "--format", "json", "--top", "0",
                                     "--target", pid, "-o", path}});
    EXPECT_EQ(hawktrace.read_to_end(), "");
    EXPECT_EQ(hawktrace.wait(), 0) << hawktrace.errors();
    std::ifstream live(directory_.path("live"));
    std::string line;
    for (std::size_t i = 0; i <= place; ++i) EXPECT_TRUE(std::getline(live, line)) << pid;
    EXPECT_TRUE(json::parse(line) == json::parse(std::ifstream(path))) << pid;
    return read_report(path);
  }
  std::string recording() const { return directory_.path("heaps.hawk"); }

 private:
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
  expect_equal(recorder.report_of(pid_of(first), 0), of_first);
  expect_equal(recorder.report_of(pid_of(same), 1), of_same);
  expect_equal(recorder.report_of(pid_of(other), 2), of_other);
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
    const Report report = recorder.report_of(pid, place);
    expect_equal(report, ledger);
    EXPECT_TRUE(report.target_exited);
  }
}

}  // namespace
}  // namespace hawk
