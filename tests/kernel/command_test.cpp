// hawktrace -- CMD: everything counts, from the dynamic linker's first malloc on, and every stack is whole: what the
// command maps was read before, and is found where it lies before user space has told of it.
#include <signal.h>

#include "tests/kernel/harness/compare.h"
#include "tests/kernel/harness/kernel_test.h"
#include "tests/kernel/harness/ledger.h"

namespace hawk {
namespace {

/// The ledger's words come through hawktrace's standard streams.
Ledger run_command(Trace& trace) {
  EXPECT_EQ(trace.process().read_line(), "ready");
  trace.process().send_byte();
  return read_ledger(trace.process());
}

/// A program linked with a counter of its own sees the same blocks, those of the libraries' start included.
KERNEL_TEST(command, from_the_first_malloc_on) {
  Trace trace = Trace::launch({ledger_path("constructors_counted")}, way);
  const Ledger ledger = read_ledger(trace.process());
  ASSERT_TRUE(ledger.totals.has_value());
  trace.process().close_input();
  const Report report = trace.wait_for_report();
  expect_equal(report, ledger);
  EXPECT_TRUE(report.target_exited);
}

/// Of all blocks only one may not be the ledger's: libstdc++'s emergency pool.
void expect_equal_but_for_pool(const Report& report, Ledger ledger) {
  Numbers others = report.totals;
  for (const auto& [function, numbers] : ledger.sites) {
    others.allocated_count -= numbers.allocated_count;
    others.freed_count -= numbers.freed_count;
  }
  EXPECT_EQ(others.allocated_count, 1u);
  EXPECT_EQ(others.freed_count, 0u);
  EXPECT_EQ(report.frees_of_untraced, 0u);
  ledger.totals = report.totals;  // so that the pool's stack is not taken for a stray one
  expect_equal(report, ledger);
}

KERNEL_TEST(command, constructors) {
  Trace trace = Trace::launch({ledger_path("constructors")}, way);
  const Ledger ledger = read_ledger(trace.process());
  trace.process().close_input();
  expect_equal_but_for_pool(trace.wait_for_report(), ledger);
}

KERNEL_TEST(command, operators) {
  Trace trace = Trace::launch({ledger_path("operators")}, way);
  const Ledger ledger = run_command(trace);
  trace.process().close_input();
  expect_equal_but_for_pool(trace.wait_for_report(), ledger);
}

/// Built once, not for each way.
const std::string kWithoutAllocator = std::string(HAWK_LEDGER_DIR) + "/no_allocator_64";

/// What cannot be probed is not called exact: a program without symbols, and without libc.
KERNEL_TEST(command, without_an_allocator) {
  Trace trace = Trace::launch({kWithoutAllocator}, way);
  ASSERT_EQ(trace.process().read_line(), "ready");
  trace.process().close_input();
  const Report report = trace.wait_for_report();
  EXPECT_FALSE(report.exact);
  EXPECT_EQ(report.losses.at("no_allocator"), 1u);
  EXPECT_EQ(report.totals, Numbers());
}

/// The program that counts is the last one.
KERNEL_TEST(command, replaced_by_one_without_an_allocator) {
  Trace trace = Trace::launch({"/bin/sh", "-c", "exec " + kWithoutAllocator}, way);
  ASSERT_EQ(trace.process().read_line(), "ready");
  trace.process().close_input();
  const Report report = trace.wait_for_report();
  EXPECT_FALSE(report.exact);
  EXPECT_EQ(report.losses.at("no_allocator"), 1u);
}

KERNEL_TEST(command, exit_code_passes_through) {
  Trace trace = Trace::launch({ledger_path("ends"), "exit", "7"}, way);
  const Ledger ledger = run_command(trace);
  expect_equal(trace.wait_for_report(7), ledger);
}

KERNEL_TEST(command, death_by_signal_passes_through) {
  Trace trace = Trace::launch({ledger_path("ends"), "signal", std::to_string(SIGABRT)}, way);
  const Ledger ledger = run_command(trace);
  expect_equal(trace.wait_for_report(128 + SIGABRT), ledger);
}

KERNEL_TEST(command, sigterm_is_passed_on) {
  Trace trace = Trace::launch({ledger_path("ends"), "wait"}, way);
  const Ledger ledger = run_command(trace);
  trace.process().send_signal(SIGTERM);
  const Report report = trace.wait_for_report(128 + SIGTERM);
  expect_equal(report, ledger);
  EXPECT_TRUE(report.target_exited);
}

/// Ctrl-C that reaches hawktrace alone, not the terminal's whole group: the command gets it too.
KERNEL_TEST(command, sigint_is_passed_on) {
  Trace trace = Trace::launch({ledger_path("ends"), "wait"}, way);
  const Ledger ledger = run_command(trace);
  trace.process().send_signal(SIGINT);
  expect_equal(trace.wait_for_report(128 + SIGINT), ledger);
}

/// env runs as the first program of the process and replaces itself: the numbers are the second program's, which was
/// not read before.
KERNEL_TEST(command, replaces_its_program) {
  Trace trace = Trace::launch({"/usr/bin/env", ledger_path("ends"), "exit", "0"}, way);
  const Ledger ledger = run_command(trace);
  const Report report = trace.wait_for_report();
  expect_equal_but_flagged(report, ledger);
  EXPECT_EQ(report.exec_count, 1u);
}

}  // namespace
}  // namespace hawk
