// A live table that is too small, where what does not fit is counted and everything adds up all the same; and one that
// is refused memory.
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "tests/kernel/harness/compare.h"
#include "tests/kernel/harness/kernel_test.h"
#include "tests/kernel/harness/ledger.h"
#include "tests/kernel/harness/memory_cgroup.h"
#include "tests/support/scratch_directory.h"

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

KERNEL_TEST_OF_COUNTS(live_table, max_memory_reached) {
  const std::uint64_t bytes = least_memory(way, "1000") + 160'000;
  trace_too_many(way, {"--max-stacks", "1000", "--max-memory", std::to_string(bytes)}, 900);
}

constexpr std::uint64_t kMiB = 1 << 20;

/// Has the kernel read that many bytes of a new file, all of which stay in its page cache for us.
void fill_page_cache(const ScratchDirectory& directory, std::uint64_t bytes) {
  const std::string path = directory.path("hole");
  std::ofstream{path};  // NOLINT(bugprone-unused-raii): creates it
  std::filesystem::resize_file(path, bytes);
  std::ifstream file(path, std::ios::binary);
  std::array<char, 65536> buffer{};
  while (file.read(buffer.data(), buffer.size())) {
  }
}

/// hawktrace in a cgroup at its limit, which holds page cache mostly: what programs ask for is refused, always, while
/// those who can wait find room. A million blocks are kept all the same.
KERNEL_TEST_ON(live_table, memory_refused_to_programs, kHashWays) {
  LedgerProgram program({.program = "grow_and_shrink"});
  const ScratchDirectory directory;
  const MemoryCgroup cgroup;
  cgroup.enter();
  Trace trace = Trace::attach(program.pid(), way, {"--verbose"});
  cgroup.limit(cgroup.usage() + 200 * kMiB);
  fill_page_cache(directory, 300 * kMiB);
  cgroup.leave();
  const Ledger ledger = program.run();
  const Report report = trace.finish();
  expect_equal(report, ledger);
  EXPECT_TRUE(report.exact);
  const std::string errors = trace.process().errors();
  EXPECT_NE(errors.find("blocks in reserve: at most "), std::string::npos);
  EXPECT_EQ(errors.find("blocks in reserve: at most 0 in use"), std::string::npos) << "programs were refused memory";
  program.close_input();
  EXPECT_EQ(program.wait(), 0) << "the target lives on";
}

}  // namespace
}  // namespace hawk
