// Targets whose system calls are intercepted. That of the kernel's return probes would be the end of them.
#include <string>
#include <utility>
#include <vector>

#include "tests/kernel/harness/compare.h"
#include "tests/kernel/harness/kernel_test.h"
#include "tests/kernel/harness/ledger.h"
#include "tests/kernel/harness/own_libc.h"

namespace hawk {
namespace {

constexpr Way kReturnProbeWays[] = {Way::kSessionArena, Way::kSessionHash, Way::kMultiArena,
                                    Way::kMultiHash,    Way::kPerfHash,    Way::kCfiArena};
/// A return probe that is in place already cannot be left out but in a session.
constexpr Way kSessionWays[] = {Way::kSessionArena, Way::kSessionHash, Way::kCfiArena};

void expect_unharmed(LedgerProgram& program) {
  program.close_input();
  EXPECT_EQ(program.wait(), 0) << "the target is unharmed";
}

// Targets with a libc of their own: sessions on other processes' libc would have the kernel arm return probes in them
// as well, which are the end of those whose calls are intercepted by then.

void expect_refused(Way way, const std::string& interceptor, const std::string& reason, const std::string& hint) {
  const ScratchDirectory directory;
  LedgerProgram program(
      {.program = "intercepted_calls", .arguments = {interceptor, "before"}, .environment = with_own_libc(directory)});
  ChildProcess hawktrace(
      {.argv = {HAWKTRACE_PATH, "-p", std::to_string(program.pid()), "--attach-via", attach_via(way)}});
  EXPECT_EQ(hawktrace.wait(), 4);
  EXPECT_NE(hawktrace.errors().find(reason), std::string::npos) << hawktrace.errors();
  EXPECT_NE(hawktrace.errors().find("hint: "), std::string::npos) << hawktrace.errors();
  EXPECT_NE(hawktrace.errors().find(hint), std::string::npos) << hawktrace.errors();
  program.run();
  expect_unharmed(program);
}

void expect_counted(Way way, std::vector<std::string> arguments) {
  const ScratchDirectory directory;
  LedgerProgram program(
      {.program = "intercepted_calls", .arguments = std::move(arguments), .environment = with_own_libc(directory)});
  Trace trace = Trace::attach(program.pid(), way);
  const Ledger ledger = program.run();
  expect_equal(trace.finish(), ledger);
  expect_unharmed(program);
}

/// A process of that name passes on system calls that it does not know.
KERNEL_TEST_OF_CALLS(interception, watched_by_strace) {
  for (const char* const moment : {"before", "during"}) {
    LedgerProgram program({.program = "intercepted_calls", .arguments = {"watched", moment}});
    Trace trace = Trace::attach(program.pid(), way);
    const Ledger ledger = program.run();
    expect_equal(trace.finish(), ledger);
    expect_unharmed(program);
  }
}

KERNEL_TEST_ON(interception, dispatched_calls, kReturnProbeWays) {
  expect_refused(way, "dispatched", "Syscall User Dispatch", "cannot trace");
}
KERNEL_TEST_ON(interception, supervised_calls, kReturnProbeWays) {
  expect_refused(way, "supervised", "intercepted_cal (ptrace)", "end process ");
}
KERNEL_TEST_ON(interception, dispatched_during_the_trace, kSessionWays) {
  expect_counted(way, {"dispatched", "during"});
}
KERNEL_TEST_ON(interception, supervised_during_the_trace, kSessionWays) {
  expect_counted(way, {"supervised", "during"});
}

/// All functions of glibc have points, so that there is no return probe, and nothing to refuse or to miss.
KERNEL_TEST_ON(interception, dispatched_calls_by_points, kPointsWays) {
  for (const char* const moment : {"before", "during"}) expect_counted(way, {"dispatched", moment, "counted"});
}
KERNEL_TEST_ON(interception, supervised_calls_by_points, kPointsWays) {
  for (const char* const moment : {"before", "during"}) expect_counted(way, {"supervised", moment, "counted"});
}

}  // namespace
}  // namespace hawk
