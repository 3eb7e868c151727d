// Causes of loss that no other test makes happen. Each is counted, once for each thing that is missing.
#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "tests/kernel/harness/compare.h"
#include "tests/kernel/harness/kernel_test.h"
#include "tests/kernel/harness/ledger.h"
#include "tests/kernel/harness/memory_cgroup.h"
#include "tests/support/scratch_directory.h"

namespace hawk {
namespace {

/// Expects that nothing but `cause` was lost, and that something was. `also`: what may have been lost beside it.
void expect_only(const Report& report, const std::string& cause, const std::string& also = "") {
  expect_sound(report);
  EXPECT_FALSE(report.exact);
  for (const auto& [name, count] : report.losses) {
    if (name == cause) {
      EXPECT_GT(count, 0u) << name;
    } else if (name != also) {
      EXPECT_EQ(count, 0u) << name;
    }
  }
}

/// Traces the program from a cgroup that is at its limit with page cache, so that whatever BPF programs ask for is
/// refused. hawktrace itself can wait for the kernel to drop some; then there is a little for the programs too, so that
/// there must be more of it than these can ever want: 64 MiB for the states of 4,000 threads.
struct RefusedTrace {
  Report report;
  Ledger ledger;
};
RefusedTrace trace_refused(Way way, const LedgerProgram::Setup& setup) {
  constexpr std::uint64_t kMiB = 1 << 20;
  LedgerProgram program(setup);
  const ScratchDirectory directory;
  const MemoryCgroup cgroup;
  cgroup.enter();
  Trace trace = Trace::attach(program.pid(), way);
  cgroup.limit(cgroup.usage() + 100 * kMiB);
  const std::string path = directory.path("hole");
  std::ofstream{path};  // NOLINT(bugprone-unused-raii): creates it
  std::filesystem::resize_file(path, 200 * kMiB);
  std::ifstream file(path, std::ios::binary);
  std::array<char, 65536> buffer{};
  while (file.read(buffer.data(), buffer.size())) {
  }
  // The last reclaim has made room for as many pages as it found together, which can be megabytes.
  cgroup.limit(cgroup.usage());
  cgroup.leave();
  RefusedTrace result;
  result.ledger = program.run();
  result.report = trace.finish();
  program.close_input();
  EXPECT_EQ(program.wait(), 0) << "the target lives on";
  return result;
}

/// Beside the arena there is no reserve.
KERNEL_TEST_ON(losses, live_table_error, kArenaWays) {
  const auto [report, ledger] = trace_refused(way, {.program = "odd_addresses"});
  expect_only(report, "live_table_error");
  EXPECT_EQ(report.totals.allocated_count + report.losses.at("live_table_error"), ledger.values.at("blocks"));
}

/// Threads for which there is neither a slot nor memory: none of their calls is followed. So many that their states
/// cannot all come from what the kernel has charged to the cgroup in advance (64 pages a CPU, MEMCG_CHARGE_BATCH in
/// mm/memcontrol.c). The live table is refused memory as well: on a busy machine a block of a thread that has a slot
/// may be lost for that reason (3 and 5 of 150,000 calls in two of 80 runs at a load of 900).
KERNEL_TEST_OF_COUNTS(losses, thread_state) {
  const auto [report, ledger] = trace_refused(way, {.program = "thousand_threads", .arguments = {"5000"}});
  expect_only(report, "thread_state", "live_table_error");
  const Numbers& counted = ledger.sites.at("by_malloc");
  const std::uint64_t calls = counted.allocated_count + counted.freed_count;
  const std::uint64_t found = report.totals.allocated_count + report.totals.freed_count + report.frees_of_untraced +
                              report.losses.at("thread_state");
  // A call that the live table could not hold is either missing in the other counters or in one of them as well.
  EXPECT_LE(found, calls);
  EXPECT_GE(found + report.losses.at("live_table_error"), calls);
}

KERNEL_TEST_OF_COUNTS(losses, unreadable_result) {
  LedgerProgram program({.program = "unreadable_results"});
  Trace trace = Trace::attach(program.pid(), way);
  const Ledger ledger = program.run();
  expect_equal(trace.finish(), ledger);
}

KERNEL_TEST_OF_COUNTS(losses, late_allocators) {
  LedgerProgram program({.program = "loads_an_allocator", .arguments = {ledger_path("libcounting_allocator.so")}});
  Trace trace = Trace::attach(program.pid(), way);
  const Ledger ledger = program.run();
  const Report report = trace.finish();
  expect_only(report, "late_allocators");
  EXPECT_EQ(report.losses.at("late_allocators"), ledger.losses.at("late_allocators"));
}

/// One that is gone before hawktrace can look at it may have been an allocator.
KERNEL_TEST(losses, libraries_that_are_gone) {
  LedgerProgram program({.program = "loads_from_memory", .arguments = {ledger_path("libcounting_allocator.so")}});
  Trace trace = Trace::attach(program.pid(), way);
  trace.process().send_signal(SIGSTOP);
  program.run();
  trace.process().send_signal(SIGCONT);
  const Report report = trace.finish();
  EXPECT_FALSE(report.exact);
  EXPECT_EQ(report.losses.at("functions_not_probed"), 1U);
}

/// A function that is seen where all of a call is known has nothing open before: neither a call that was left, nor one
/// of which others could be taken for a part.
KERNEL_TEST_OF_COUNTS(losses, calls_left_at_any_instruction) {
  LedgerProgram program({.program = "left_allocator"});
  Trace trace = Trace::attach(program.pid(), way);
  const Ledger ledger = program.run();
  const Report report = trace.finish();
  program.close_input();
  EXPECT_EQ(program.wait(), 0) << "the target lives on";
  if (way == Way::kPointsArena) {
    expect_equal(report, ledger);
    EXPECT_GE(report.calls_at_points.at("malloc"), ledger.sites.at("by_malloc").allocated_count);
    return;
  }
  expect_sound(report);
  EXPECT_FALSE(report.exact);
  EXPECT_EQ(report.losses.at("abandoned_calls"), ledger.values.at("left"));
}

/// The handler of a signal that comes in the middle of a call makes calls of its own.
KERNEL_TEST_OF_COUNTS(losses, calls_in_the_middle_of_a_call) {
  LedgerProgram program({.program = "left_allocator", .arguments = {"stays"}});
  Trace trace = Trace::attach(program.pid(), way);
  const Ledger ledger = program.run();
  const Report report = trace.finish();
  program.close_input();
  EXPECT_EQ(program.wait(), 0) << "the target lives on";
  // Where frames in allocators are not followed, the calls of the handler may be parts of the one that is open.
  if (unwind(way) != "fp" || way == Way::kPointsArena) return expect_equal(report, ledger);
  EXPECT_FALSE(report.exact);
  EXPECT_EQ(report.losses.at("hidden_calls"), ledger.sites.at("in_handler").allocated_count);
}

}  // namespace
}  // namespace hawk
