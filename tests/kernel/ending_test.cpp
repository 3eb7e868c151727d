// How a trace ends: with its target, with the target's program, by itself.
#include <fmt/core.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <fstream>
#include <stdexcept>

#include "tests/kernel/harness/compare.h"
#include "tests/kernel/harness/enough_time.h"
#include "tests/kernel/harness/kernel_test.h"
#include "tests/kernel/harness/ledger.h"
#include "tests/kernel/harness/traced_ledger.h"
#include "userspace/base/signal_source.h"

namespace hawk {
namespace {

using namespace std::chrono_literals;

KERNEL_TEST(target, killed) {
  LedgerProgram program({.program = "ends", .arguments = {"wait"}});
  Trace trace = Trace::attach(program.pid(), way);
  const Ledger ledger = program.run();
  program.send_signal(SIGKILL);
  EXPECT_EQ(program.wait(), 128 + SIGKILL);
  const Report report = trace.wait_for_report();
  expect_equal(report, ledger);
  EXPECT_TRUE(report.target_exited);
}

KERNEL_TEST(target, killed_under_load) {
  LedgerProgram program({.program = "churn", .arguments = {"8"}});
  Trace trace = Trace::attach(program.pid(), way);
  program.send_signal(SIGKILL);
  program.wait();
  const Report report = trace.wait_for_report();
  expect_sound(report);
  EXPECT_TRUE(report.target_exited);
}

KERNEL_TEST(target, exits) {
  LedgerProgram program({.program = "ends", .arguments = {"exit", "0"}});
  Trace trace = Trace::attach(program.pid(), way);
  const Ledger ledger = program.run();
  const Report report = trace.wait_for_report();
  expect_equal(report, ledger);
  EXPECT_TRUE(report.target_exited);
  EXPECT_EQ(program.wait(), 0);
}

KERNEL_TEST(target, aborts) {
  LedgerProgram program({.program = "ends", .arguments = {"signal", std::to_string(SIGSEGV)}});
  Trace trace = Trace::attach(program.pid(), way);
  const Ledger ledger = program.run();
  expect_equal(trace.wait_for_report(), ledger);
  EXPECT_EQ(program.wait(), 128 + SIGSEGV);
}

KERNEL_TEST(target, replaces_its_program) {
  const auto [ledger, report] = trace_ledger("execs", way);
  expect_equal_but_flagged(report, ledger);
  EXPECT_EQ(report.exec_count, 1u);
  EXPECT_EQ(report.frees_of_untraced, 0u) << "the first program's";
}

/// Whenever hawktrace looks, libc may not be mapped yet, or not any more.
KERNEL_TEST(target, replaces_its_program_all_the_time) {
  LedgerProgram program({.program = "exec_loop"});
  expect_sound(Trace::attach(program.pid(), way).finish());
  program.run();
  EXPECT_EQ(program.wait(), 0);
}

/// `interval`: between two readings of the tables.
void trace_many_programs(Way way, const std::string& interval) {
  const auto [ledger, report] = trace_ledger("many_execs", way, {"--interval", interval});
  expect_equal_but_flagged(report, ledger);
  EXPECT_GT(report.exec_count, 256u) << "more often than a key can tell";
}

KERNEL_TEST(target, replaces_its_program_again_and_again) { trace_many_programs(way, "100ms"); }

KERNEL_TEST(target, replaces_its_program_between_two_looks) { trace_many_programs(way, "1h"); }

/// Returns once it has stopped.
void stop(ChildProcess& process) {
  process.send_signal(SIGSTOP);
  siginfo_t info = {};
  if (::waitid(P_PID, static_cast<id_t>(process.pid()), &info, WSTOPPED) != 0) {
    throw std::runtime_error("hawktrace has not stopped");
  }
}

/// What has been announced of two programs reaches hawktrace together with the counters of the third.
KERNEL_TEST(target, replaces_its_program_twice_while_hawktrace_is_stopped) {
  LedgerProgram program({.program = "execs_first"});
  Trace trace = Trace::attach(program.pid(), way, {"--interval", "1h"});
  stop(trace.process());
  const Ledger ledger = program.run();
  trace.process().send_signal(SIGCONT);
  const Report report = trace.finish();
  expect_equal_but_flagged(report, ledger);
  EXPECT_EQ(report.exec_count, 2u);
  EXPECT_EQ(report.comm, "execs_third");
  EXPECT_TRUE(report.exe.ends_with("/execs_third")) << report.exe;
  EXPECT_FALSE(report.stacks.empty());
  for (const ReportStack& stack : report.stacks) EXPECT_EQ(stack.direct_caller(), "in_third") << stack.text();
}

KERNEL_TEST(trace, ends_after_its_duration) {
  in_enough_time(2s, [&](std::chrono::milliseconds duration) {
    LedgerProgram program({.program = "ends", .arguments = {"wait"}});
    const auto start = std::chrono::steady_clock::now();
    Trace trace = Trace::attach(program.pid(), way, {"--duration", in_milliseconds(duration)});
    const Ledger ledger = program.run();
    if (std::chrono::steady_clock::now() - start >= duration) return false;
    const Report report = trace.wait_for_report();
    expect_equal(report, ledger);
    EXPECT_FALSE(report.target_exited);
    program.close_input();
    EXPECT_EQ(program.wait(), 0);
    return true;
  });
}

/// Whether a signal has been sent to the process that it has not taken yet.
bool is_pending(pid_t pid, int number) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  const std::string key = "ShdPnd:";
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(key)) return ((std::stoull(line.substr(key.size()), nullptr, 16) >> (number - 1)) & 1) != 0;
  }
  throw std::runtime_error("hawktrace has ended");
}

/// As timeout(1) sends it, to the process and to its group: the second when the first has already been handled. Returns
/// whether this test was not interrupted for so long in between that the second is handled separately.
bool send_twice(ChildProcess& process, int number) {
  const auto start = std::chrono::steady_clock::now();
  process.send_signal(number);
  while (is_pending(process.pid(), number)) ::sched_yield();
  process.send_signal(number);
  return std::chrono::steady_clock::now() - start < kRepeatTime;
}

constexpr Way kOneWay[] = {Way::kSessionArena};

KERNEL_TEST_ON(trace, signal_that_is_sent_twice_ends_it_with_its_report, kOneWay) {
  for (const int number : {SIGINT, SIGTERM}) {
    for (bool in_time = false; !in_time;) {
      LedgerProgram program({.program = "ends", .arguments = {"wait"}});
      Trace trace = Trace::attach(program.pid(), way);
      const Ledger ledger = program.run();
      in_time = send_twice(trace.process(), number);
      if (in_time) expect_equal(trace.wait_for_report(), ledger);
      program.close_input();
      EXPECT_EQ(program.wait(), 0);
    }
  }
}

/// How many blocks an arena keeps is not known beforehand.
KERNEL_TEST_ON(trace, require_exact, kHashWays) {
  LedgerProgram program({.program = "live_table_full"});
  Trace trace = Trace::attach(program.pid(), way, {"--max-blocks", "1000", "--require-exact"});
  const Ledger ledger = program.run();
  expect_equal(trace.finish(5), ledger);
}

}  // namespace
}  // namespace hawk
