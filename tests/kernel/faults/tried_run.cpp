#include "tests/kernel/faults/tried_run.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <sstream>
#include <stdexcept>

#include "tests/kernel/harness/child_process.h"
#include "tests/kernel/harness/compare.h"
#include "tests/kernel/harness/ledger.h"
#include "tests/kernel/harness/ready_pipe.h"

namespace hawk {
namespace {

/// Of the command.
constexpr int kItsStatus = 9;

void expect_one_message(const std::string& errors) {
  std::istringstream lines(errors);
  std::string line;
  int messages = 0;
  while (std::getline(lines, line)) {
    if (line.starts_with("hawktrace: error: ")) ++messages;
    EXPECT_TRUE(line.starts_with("hawktrace: ") || line.starts_with("hint: ")) << line;
  }
  EXPECT_EQ(messages, 1) << errors;
}

/// Names may be missing where a file could not be read; numbers may not.
void expect_right_or_flagged(const Report& report, const Ledger& ledger) {
  expect_sound(report);
  if (!report.exact) return;
  Numbers all;
  for (const auto& [function, numbers] : ledger.sites) all += numbers;
  EXPECT_EQ(report.totals, all);
}

/// Small tables, so that a run takes little time.
ChildProcess::Setup setup_of(const Conditions& conditions, const std::string& report_path) {
  ChildProcess::Setup setup{.argv = conditions.runner, .environment = conditions.plan.environment()};
  for (const std::string& word : hawktrace_command(conditions.way, report_path)) setup.argv.push_back(word);
  for (const char* word : {"-q", "--max-stacks", "64", "--max-blocks", "4096"}) setup.argv.emplace_back(word);
  return setup;
}

/// An end without a report.
void expect_failed(const Conditions& conditions, int status, const std::string& errors,
                   const std::string& report_path) {
  if (conditions.is_end_of_other(status, errors)) return;
  EXPECT_FALSE(std::filesystem::exists(report_path)) << "an unfinished report";
  const bool is_own = (status >= 2 && status <= 6) || (status >= 125 && status <= 127);
  EXPECT_TRUE(is_own) << "status " << status << "\n" << errors;
  expect_one_message(errors);
}

/// Processes that hawktrace has left behind come to us.
std::vector<int> statuses_of_orphans() {
  std::vector<int> statuses;
  for (const pid_t orphan : children_of(getpid())) {
    const int handle = static_cast<int>(syscall(SYS_pidfd_open, orphan, 0));
    const bool ends = handle >= 0 && wait_readable(handle);
    close(handle);
    EXPECT_TRUE(ends) << "process " << orphan << " is left behind";
    if (!ends) kill(orphan, SIGKILL);
    int status = 0;
    waitpid(orphan, &status, 0);
    // Readers that a hawktrace without memory has left end by themselves.
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
      statuses.push_back(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
  }
  return statuses;
}

/// The command's words, which come through hawktrace's standard streams; nothing if it says none.
std::optional<Ledger> converse(ChildProcess& process) {
  const std::optional<std::string> greeting = process.next_line();
  if (!greeting) return std::nullopt;
  EXPECT_EQ(*greeting, "ready");
  process.send_byte();
  return read_ledger(process);
}

}  // namespace

bool try_beside_target(const Conditions& conditions) {
  const ScratchDirectory directory;
  const std::string report_path = directory.path("report.json");
  LedgerProgram program({.program = "ends", .arguments = {"wait"}});
  ReadyPipe ready;
  ChildProcess::Setup setup = setup_of(conditions, report_path);
  setup.inherited = {ready.write_end()};
  for (const std::string& word : {std::string("--ready-fd"), std::to_string(ready.write_end()), std::string("-p"),
                                  std::to_string(program.pid())}) {
    setup.argv.push_back(word);
  }
  ChildProcess process(setup);
  ready.wait();  // until it is ready, or has ended, or cannot say that it is ready
  const Ledger ledger = program.run();
  process.send_signal(SIGINT);
  const int status = process.wait();
  if (status == 0) {
    expect_right_or_flagged(read_report(report_path), ledger);
  } else {
    expect_failed(conditions, status, process.errors(), report_path);
  }
  program.close_input();
  EXPECT_EQ(program.wait(), 0) << "the target lives on";
  conditions.plan.expect_no_objects();
  return status == 0;
}

bool try_with_command(const Conditions& conditions) {
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) throw std::runtime_error("become a reaper of orphans");
  const ScratchDirectory directory;
  const std::string report_path = directory.path("report.json");
  ChildProcess::Setup setup = setup_of(conditions, report_path);
  for (const std::string& word : {std::string("--no-follow"), std::string("--"), ledger_path("ends"),
                                  std::string("exit"), std::to_string(kItsStatus)}) {
    setup.argv.push_back(word);
  }
  ChildProcess process(setup);
  const std::optional<Ledger> ledger = converse(process);
  const int status = process.wait();
  const std::vector<int> orphans = statuses_of_orphans();
  // As after --duration: what comes later is not counted, and the command may live on.
  const bool ended_early = process.errors().find("the trace ends here") != std::string::npos;
  if (status == kItsStatus || (status == 0 && ended_early)) {
    EXPECT_TRUE(ledger.has_value()) << "the status of a command that was never started";
    const Report report = read_report(report_path);
    expect_sound(report);
    if (ledger && !ended_early) expect_right_or_flagged(report, *ledger);
    EXPECT_EQ(orphans, status == 0 ? std::vector<int>{kItsStatus} : std::vector<int>{}) << process.errors();
  } else {
    expect_failed(conditions, status, process.errors(), report_path);
    // One that was started was left alone.
    EXPECT_EQ(orphans, ledger ? std::vector<int>{kItsStatus} : std::vector<int>{}) << process.errors();
  }
  conditions.plan.expect_no_objects();
  return status == kItsStatus;
}

}  // namespace hawk
