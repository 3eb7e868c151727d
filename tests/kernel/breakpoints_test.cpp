// Targets in whose memory the kernel's breakpoints are not, or no longer are, where the probes were asked for.
#include <chrono>
#include <stdexcept>
#include <thread>

#include "tests/kernel/harness/compare.h"
#include "tests/kernel/harness/kernel_test.h"
#include "tests/kernel/harness/ledger.h"
#include "tests/kernel/harness/own_libc.h"

namespace hawk {
namespace {

struct Traced {
  Report report;
  Ledger ledger;
  std::string warnings;
};

/// ledgers/patched_code.c, which changes the code of its libc in its memory.
class PatchedCode {
 public:
  PatchedCode(const std::string& change, const std::string& when)
      : program_({.program = "patched_code", .arguments = {change, when}, .environment = with_own_libc(directory_)}) {}
  LedgerProgram* operator->() { return &program_; }

 private:
  ScratchDirectory directory_;
  LedgerProgram program_;
};

/// Traces it; expects that it lives on to its end.
Traced trace_patched(Way way, const std::string& change, bool is_before) {
  PatchedCode program(change, is_before ? "before" : "during");
  Trace trace = Trace::attach(program->pid(), way);
  Traced traced;
  traced.ledger = program->run();
  traced.report = trace.finish();
  traced.warnings = trace.process().errors();
  program->close_input();
  EXPECT_EQ(program->wait(), 0) << "the target is unharmed";
  return traced;
}

/// Numbers that cannot be right are said not to be, with the cause and the function.
void expect_missing(const Traced& traced, const std::string& function, const std::string& cause) {
  EXPECT_FALSE(traced.report.exact);
  EXPECT_GT(traced.report.losses.at(cause), 0u);
  EXPECT_NE(traced.warnings.find(function), std::string::npos) << traced.warnings;
}

void expect_missing(Way way, const std::string& change, bool is_before) {
  expect_missing(trace_patched(way, change, is_before), "malloc", "missing_breakpoints");
}

KERNEL_TEST_OF_CALLS(breakpoints, not_in_writable_code) { expect_missing(way, "writable", true); }
KERNEL_TEST_OF_CALLS(breakpoints, not_in_a_writable_page) { expect_missing(way, "writable_page", true); }
KERNEL_TEST_OF_CALLS(breakpoints, not_in_a_shared_mapping) { expect_missing(way, "shared", true); }
KERNEL_TEST_OF_CALLS(breakpoints, not_in_anonymous_memory) { expect_missing(way, "anonymous", true); }
KERNEL_TEST_OF_CALLS(breakpoints, overwritten) { expect_missing(way, "patched", false); }
KERNEL_TEST_OF_CALLS(breakpoints, dropped_with_their_page) { expect_missing(way, "dropped", false); }
KERNEL_TEST_OF_CALLS(breakpoints, replaced_by_a_shared_mapping) { expect_missing(way, "shared", false); }
KERNEL_TEST_OF_CALLS(breakpoints, replaced_by_anonymous_memory) { expect_missing(way, "anonymous", false); }
KERNEL_TEST_OF_CALLS(breakpoints, replaced_by_a_hook) { expect_missing(way, "hooked", false); }

/// A breakpoint there would make the kernel execute what the file has, and go on in the middle of the hook.
KERNEL_TEST_OF_CALLS(breakpoints, not_put_into_a_hook) {
  expect_missing(trace_patched(way, "hooked", true), "malloc", "functions_not_probed");
}

/// Where a plan rests on code that is another now, the function is probed at its entry and its return.
KERNEL_TEST_OF_CALLS(breakpoints, not_by_a_plan_for_other_code) {
  const Traced traced = trace_patched(way, "encoded_otherwise", true);
  expect_equal(traced.report, traced.ledger);
  EXPECT_FALSE(traced.report.calls_at_points.contains("malloc")) << "malloc is followed by its plan";
}

/// Only by a plan does it matter what becomes of that code.
KERNEL_TEST_OF_CALLS(breakpoints, planned_code_is_overwritten) {
  const Traced traced = trace_patched(way, "encoded_otherwise", false);
  if (way == Way::kPointsArena) return expect_missing(traced, "malloc", "missing_breakpoints");
  expect_equal(traced.report, traced.ledger);
}

/// Breakpoints that are there stay there.
KERNEL_TEST_OF_CALLS(breakpoints, stay_in_writable_code) {
  const Traced traced = trace_patched(way, "writable", false);
  expect_equal(traced.report, traced.ledger);
}

KERNEL_TEST_OF_CALLS(breakpoints, stay_in_code_that_was_writable) {
  const Traced traced = trace_patched(way, "writable_for_a_moment", false);
  expect_equal(traced.report, traced.ledger);
}

KERNEL_TEST_OF_CALLS(breakpoints, get_into_code_that_was_writable) {
  const Traced traced = trace_patched(way, "writable_for_a_moment", true);
  expect_equal(traced.report, traced.ledger);
}

/// The points that hawktrace counts where it has said that breakpoints are missing before the program ends.
std::uint64_t missing_when_ended(Way way, const std::string& when) {
  PatchedCode program("dropped", when);
  Trace trace = Trace::attach(program->pid(), way, {"--interval", "100ms"});
  program->run();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatienceMs);
  while (trace.process().errors().find("is not traced") == std::string::npos) {
    if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error("no breakpoint is missed");
    std::this_thread::yield();
  }
  program->close_input();
  EXPECT_EQ(program->wait(), 0) << "the target is unharmed";
  return trace.wait_for_report().losses.at("missing_breakpoints");
}

KERNEL_TEST_OF_CALLS(breakpoints, of_a_later_program_are_counted_once) {
  EXPECT_EQ(missing_when_ended(way, "after_exec"), missing_when_ended(way, "during"));
}

/// There is no further look before the target has ended.
void expect_missing_at_the_end(Way way, const std::string& change) {
  PatchedCode program(change, "end");
  Trace trace = Trace::attach(program->pid(), way, {"--interval", "3600"});
  Traced traced;
  traced.ledger = program->run();
  EXPECT_EQ(program->wait(), 0) << "the target is unharmed";
  traced.report = trace.wait_for_report();
  traced.warnings = trace.process().errors();
  expect_missing(traced, "malloc", "missing_breakpoints");
}

KERNEL_TEST_OF_CALLS(breakpoints, overwritten_before_the_end) { expect_missing_at_the_end(way, "patched"); }
KERNEL_TEST_OF_CALLS(breakpoints, dropped_before_the_end) { expect_missing_at_the_end(way, "dropped"); }
KERNEL_TEST_OF_CALLS(breakpoints, replaced_before_the_end) { expect_missing_at_the_end(way, "anonymous"); }
KERNEL_TEST_OF_CALLS(breakpoints, replaced_often_before_the_end) { expect_missing_at_the_end(way, "anonymous_often"); }
KERNEL_TEST_OF_CALLS(breakpoints, shared_before_the_end) { expect_missing_at_the_end(way, "shared"); }

KERNEL_TEST_OF_CALLS(breakpoints, not_missed_where_data_is) {
  LedgerProgram program({.program = "idle_allocator", .arguments = {ledger_path("libcounting_allocator.so"), "over"}});
  Trace trace = Trace::attach(program.pid(), way, {"--interval", "3600"});
  const Ledger ledger = program.run();
  EXPECT_EQ(program.wait(), 0) << "the target is unharmed";
  expect_equal(trace.wait_for_report(), ledger);
}

}  // namespace
}  // namespace hawk
