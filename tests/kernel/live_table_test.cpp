// A live table that is too small: what does not fit is counted, and everything adds up all the same.
#include <gtest/gtest.h>

#include "tests/kernel/harness/compare.h"
#include "tests/kernel/harness/kernel_test.h"
#include "tests/kernel/harness/ledger.h"

namespace hawk {
namespace {

/// What the report says of all stacks that call the allocator from `function`.
Numbers sum_of(const Report& report, const std::string& function) {
  Numbers sum;
  for (const ReportStack& stack : report.stacks) {
    if (stack.direct_caller() == function) sum += stack.numbers;
  }
  return sum;
}

void expect_size(const Numbers& numbers, std::uint64_t size_bytes) {
  EXPECT_EQ(numbers.allocated_bytes, numbers.allocated_count * size_bytes);
  EXPECT_EQ(numbers.freed_bytes, numbers.freed_count * size_bytes);
}

/// Of the blocks of ledgers/arena_full.c each was kept or counted, and each free found its block or was counted.
void expect_conserved(const Report& report, const Ledger& ledger, std::uint64_t kept_at_least) {
  expect_sound(report);
  const Numbers small = sum_of(report, "small_block");
  const Numbers large = sum_of(report, "large_block");
  expect_size(small, ledger.values.at("small_bytes"));
  expect_size(large, ledger.values.at("large_bytes"));
  Numbers kept = small;
  kept += large;
  EXPECT_GE(kept.allocated_count, kept_at_least);
  EXPECT_GT(report.losses.at("live_table_full"), 0u);
  EXPECT_EQ(kept.allocated_count + report.losses.at("live_table_full"), ledger.values.at("blocks"));
  EXPECT_EQ(kept.freed_count + report.frees_of_untraced, ledger.values.at("frees"));
  EXPECT_EQ(sum_of(report, "fits_again"), ledger.sites.at("fits_again")) << "room that becomes free is used again";
  EXPECT_FALSE(report.exact);
  for (const auto& [cause, count] : report.losses) {
    EXPECT_TRUE(count == 0 || cause == "live_table_full") << cause << " " << count;
  }
}

void trace_too_many(Way way, const std::vector<std::string>& options, std::uint64_t kept_at_least) {
  LedgerProgram program({.program = "arena_full"});
  Trace trace = Trace::attach(program.pid(), way, options);
  const Ledger ledger = program.run();
  expect_conserved(trace.finish(), ledger, kept_at_least);
  program.close_input();
  EXPECT_EQ(program.wait(), 0) << "the target lives on";
}

/// An arena has whole pages, 32 at least, each with room for 320 blocks.
KERNEL_TEST_ON(live_table, arena_full, kArenaWays) { trace_too_many(way, {"--max-blocks", "1000"}, 5000); }

KERNEL_TEST(live_table, max_memory_reached) {
  const std::uint64_t bytes = least_memory(way, "1000") + 100'000;
  trace_too_many(way, {"--max-stacks", "1000", "--max-memory", std::to_string(bytes)}, 900);
}

}  // namespace
}  // namespace hawk
