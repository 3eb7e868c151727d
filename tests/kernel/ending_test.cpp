// How a trace ends: with its target, with the target's program, by itself.
#include <signal.h>

#include "tests/kernel/harness/compare.h"
#include "tests/kernel/harness/kernel_test.h"
#include "tests/kernel/harness/ledger.h"

namespace hawk {
namespace {

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
  LedgerProgram program({.program = "execs"});
  Trace trace = Trace::attach(program.pid(), way);
  const Ledger ledger = program.run();
  const Report report = trace.finish();
  expect_equal_but_flagged(report, ledger);
  EXPECT_EQ(report.exec_count, 1u);
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
  LedgerProgram program({.program = "many_execs"});
  Trace trace = Trace::attach(program.pid(), way, {"--interval", interval});
  const Ledger ledger = program.run();
  const Report report = trace.finish();
  expect_equal_but_flagged(report, ledger);
  EXPECT_GT(report.exec_count, 256u) << "more often than a key can tell";
}

KERNEL_TEST(target, replaces_its_program_again_and_again) { trace_many_programs(way, "100ms"); }

KERNEL_TEST(target, replaces_its_program_between_two_looks) { trace_many_programs(way, "1h"); }

KERNEL_TEST(trace, ends_after_its_duration) {
  LedgerProgram program({.program = "ends", .arguments = {"wait"}});
  Trace trace = Trace::attach(program.pid(), way, {"--duration", "2"});
  const Ledger ledger = program.run();
  const Report report = trace.wait_for_report();
  expect_equal(report, ledger);
  EXPECT_FALSE(report.target_exited);
  program.close_input();
  EXPECT_EQ(program.wait(), 0);
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
