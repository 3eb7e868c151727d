// Calls that are seen before they have taken their block from a free list, and signals in between.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "tests/kernel/harness/compare.h"
#include "tests/kernel/harness/kernel_test.h"
#include "tests/kernel/harness/ledger.h"
#include "tests/kernel/harness/ready_pipe.h"
#include "tests/kernel/harness/target_report.h"
#include "tests/kernel/harness/traced_ledger.h"
#include "tests/support/scratch_directory.h"

namespace hawk {
namespace {

LedgerProgram::Setup doing(const std::string& deed) {
  return {.program = "signals_in_malloc",
          .arguments = {deed},
          .environment = {{"LD_PRELOAD", "/usr/lib/x86_64-linux-gnu/libtcmalloc_minimal.so.4"}}};
}

TracedLedger trace_signals(Way way, const std::string& deed) { return trace_to_end(doing(deed), way); }

Numbers made(const Ledger& ledger) {
  Numbers sum;
  for (const auto& [function, numbers] : ledger.sites) {
    sum.allocated_count += numbers.allocated_count;
    sum.freed_count += numbers.freed_count;
  }
  return sum;
}

/// Expects that no more is wrong than is said.
void expect_no_more_wrong(const TracedLedger& traced) {
  expect_sound(traced.report);
  std::uint64_t lost = 0;
  for (const auto& [name, count] : traced.report.losses) {
    EXPECT_TRUE(count == 0 || name == "lost_calls" || name == "live_overwritten") << name;
    lost += count;
  }
  const Numbers counted = traced.report.totals, happened = made(traced.ledger);
  EXPECT_GT(lost, 0u) << "some calls are interrupted where their block is not taken yet";
  EXPECT_EQ(traced.report.exact, lost == 0);
  const auto live = static_cast<std::int64_t>(counted.allocated_count - counted.freed_count);
  const auto lives = static_cast<std::int64_t>(happened.allocated_count - happened.freed_count);
  EXPECT_LE(static_cast<std::uint64_t>(std::abs(live - lives)), lost);
  EXPECT_LE(counted.allocated_count, happened.allocated_count + lost);
  EXPECT_GE(counted.allocated_count + lost, happened.allocated_count);
}

KERNEL_TEST_OF_COUNTS(free_lists, interrupted_by_what_does_nothing) {
  const TracedLedger traced = trace_signals(way, "nothing");
  expect_equal(traced.report, traced.ledger);
}

KERNEL_TEST_ON(free_lists, interrupted_by_an_allocation, kPointsWays) {
  expect_no_more_wrong(trace_signals(way, "allocates"));
}

KERNEL_TEST_ON(free_lists, interrupted_by_a_free_and_an_allocation, kPointsWays) {
  expect_no_more_wrong(trace_signals(way, "returns"));
}

KERNEL_TEST_ON(free_lists, interrupted_by_a_free, kPointsWays) { expect_no_more_wrong(trace_signals(way, "gives")); }

/// What the handler will do when the trace has ended is not known.
KERNEL_TEST_ON(free_lists, interrupted_at_the_end, kPointsWays) {
  const TracedLedger traced = trace_signals(way, "stays");
  EXPECT_FALSE(traced.report.exact);
  EXPECT_EQ(traced.report.losses.at("lost_calls"), 1u);
  EXPECT_EQ(traced.report.totals.allocated_count, made(traced.ledger).allocated_count + 1);
}

/// The child is given the block as well, and is not seen to be.
KERNEL_TEST_ON(free_lists, interrupted_by_a_fork, kPointsWays) {
  const ScratchDirectory directory;
  LedgerProgram program(doing("forks"));
  ReadyPipe ready;
  ChildProcess::Setup setup{.argv = hawktrace_command(way, directory.path("report")), .inherited = {ready.write_end()}};
  setup.argv.insert(setup.argv.end(),
                    {"--ready-fd", std::to_string(ready.write_end()), "--follow", "-p", std::to_string(program.pid())});
  ChildProcess hawktrace(setup);
  ASSERT_TRUE(ready.wait()) << hawktrace.errors();
  program.run();
  hawktrace.send_signal(SIGINT);
  EXPECT_EQ(hawktrace.wait(), 0) << hawktrace.errors();
  const nlohmann::json report = nlohmann::json::parse(std::ifstream(directory.path("report")));
  ASSERT_EQ(report.at("targets").size(), 2u);
  std::vector<std::uint64_t> lost;
  for (std::size_t place = 0; place < 2; ++place)
    lost.push_back(report_of_target(report, place).at("losses").at("lost_calls"));
  std::sort(lost.begin(), lost.end());
  EXPECT_EQ(lost, (std::vector<std::uint64_t>{0, 1}));
  program.close_input();
  EXPECT_EQ(program.wait(), 0) << "the target lives on";
}

KERNEL_TEST_ON(free_lists, left, kPointsWays) { expect_no_more_wrong(trace_signals(way, "leaves")); }

}  // namespace
}  // namespace hawk
