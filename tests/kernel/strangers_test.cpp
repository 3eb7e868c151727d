// What other processes do is none of hawktrace's business, and costs it nothing.
#include <time.h>

#include <chrono>
#include <map>
#include <stdexcept>

#include "tests/kernel/harness/compare.h"
#include "tests/kernel/harness/kernel_test.h"
#include "tests/kernel/harness/ledger.h"

namespace hawk {
namespace {

/// What all threads of a process have run for.
std::chrono::nanoseconds cpu_time(pid_t pid) {
  clockid_t clock = 0;
  timespec time = {};
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0) {
    throw std::runtime_error("the CPU time of hawktrace");
  }
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

/// Two processes that map code, make data code, fork and exec for a second or so.
LedgerProgram make_storm() { return LedgerProgram({.program = "storm", .arguments = {"2", "30000"}}); }

KERNEL_TEST(strangers, cost_nothing) {
  LedgerProgram target({.program = "every_function"});
  LedgerProgram storm = make_storm();
  Trace trace = Trace::attach(target.pid(), way);
  const auto begin = std::chrono::steady_clock::now();
  const std::chrono::nanoseconds before = cpu_time(trace.process().pid());
  storm.run();
  const std::chrono::nanoseconds used = cpu_time(trace.process().pid()) - before;
  const std::chrono::nanoseconds passed = std::chrono::steady_clock::now() - begin;
  EXPECT_LE(used * 100, passed) << used.count() << " ns of CPU in " << passed.count() << " ns";
  const Ledger ledger = target.run();
  expect_equal(trace.finish(), ledger);
}

/// What the target maps meanwhile is seen. The dynamic linker allocates too, so that only our own stacks are compared.
KERNEL_TEST(strangers, hide_nothing) {
  LedgerProgram target({.program = "reloaded_libraries", .arguments = {ledger_path("")}});
  LedgerProgram storm = make_storm();
  Trace trace = Trace::attach(target.pid(), way);
  storm.send_byte();
  const Ledger ledger = target.run();
  const Report report = trace.finish();
  expect_sound(report);
  EXPECT_TRUE(report.exact);
  std::map<std::string, Numbers> sums;
  std::size_t from_library = 0;
  for (const ReportStack& stack : report.stacks) {
    sums[stack.direct_caller()] += stack.numbers;
    if (!ledger.sites.contains(stack.direct_caller())) continue;
    if (unwind(way) != "fp") expect_noted_or_flagged(stack, ledger);
    const std::vector<std::string> functions = stack.functions();
    from_library += functions.size() > 1 && functions[1] == "inner" ? 1 : 0;
  }
  for (const auto& [site, numbers] : ledger.sites) EXPECT_EQ(sums[site], numbers) << site;
  read_ledger(storm);
  // Their functions have no frame pointers.
  if (unwind(way) == "fp") return;
  EXPECT_GE(from_library, ledger.sites.size()) << "of one library at least nothing was known";
}

}  // namespace
}  // namespace hawk
