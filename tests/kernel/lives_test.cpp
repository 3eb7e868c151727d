// The lives of blocks by stack: sizes, lifetimes, threads that hand blocks to each other; and the peak.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bpf/clock.h"
#include "tests/kernel/harness/compare.h"
#include "tests/kernel/harness/engine_world.h"
#include "tests/kernel/harness/kernel_test.h"
#include "tests/kernel/harness/ledger.h"
#include "tests/kernel/harness/report.h"

namespace hawk {
namespace {

/// The lives of the stack that has allocated so many blocks; nullopt: not one has.
std::optional<BlockHistograms> lives_of(const TargetLives& lives, std::uint64_t allocated) {
  std::map<StackId, BlockHistograms> stacks;
  for (const StackLives& own : *lives.stacks) stacks[own.stack] += own;
  std::optional<BlockHistograms> found;
  for (const auto& [stack, histograms] : stacks) {
    std::uint64_t sum = 0;
    for (const std::uint64_t count : histograms.sizes) sum += count;
    if (sum == allocated) found = histograms;
  }
  return found;
}

/// By the least number of each class.
template <std::size_t N>
std::map<std::uint64_t, std::uint64_t> classes(const std::array<std::uint64_t, N>& counts) {
  std::map<std::uint64_t, std::uint64_t> found;
  for (std::size_t i = 0; i < N; ++i) {
    if (counts[i] != 0) found[BlockHistograms::least_of(i)] = counts[i];
  }
  return found;
}

using Classes = std::map<std::uint64_t, std::uint64_t>;

/// Of an engine, which here walks stacks along frame pointers.
constexpr Way kEngineWays[] = {Way::kSessionArena, Way::kSessionHash, Way::kMultiArena, Way::kMultiHash,
                               Way::kPerfHash};

/// Sizes from 0 to 8 GiB, and lifetimes by a clock that the test moves on.
KERNEL_TEST_ON(lives, sizes_and_lifetimes, kEngineWays) {
  constexpr std::array<std::uint64_t, 3> kTimesMs = {1, 300, 70'000};
  const TestEngine world(way, {.histograms = true});
  LedgerProgram program({.program = "sizes"});
  Tracer tracer = Library().trace(*world.engine, program.pid(), world.features.pid_filter);
  program.send_byte();
  for (const std::uint64_t time_ms : kTimesMs) {
    EXPECT_EQ(program.read_line(), "phase");
    world.engine->set_clock(hawk_stamp_of(time_ms));
    program.send_byte();
  }
  read_ledger(program);
  tracer.stop();
  world.engine->stop();
  const auto read = world.engine->read_lives();
  ASSERT_TRUE(read.has_value());
  const TargetLives& lives = read->at(tracer.number());
  const std::optional<BlockHistograms> sizes = lives_of(lives, 67);
  ASSERT_TRUE(sizes.has_value());
  Classes expected = {{0, 1}, {1, 1}, {1ULL << 33, 1}};
  for (int power = 1; power < 33; ++power) expected[1ULL << power] = 2;
  EXPECT_EQ(classes(sizes->sizes), expected);
  EXPECT_EQ(classes(sizes->lifetimes), (Classes{{0, 67}}));
  EXPECT_EQ(sizes->temporary, 67u);
  const std::optional<BlockHistograms> temporary = lives_of(lives, 25);
  ASSERT_TRUE(temporary.has_value());
  EXPECT_EQ(temporary->temporary, 25u);
  const std::optional<BlockHistograms> lasting = lives_of(lives, 10);
  ASSERT_TRUE(lasting.has_value());
  EXPECT_EQ(classes(lasting->sizes), (Classes{{64, 10}}));
  EXPECT_EQ(classes(lasting->lifetimes), (Classes{{1, 2}, {256, 2}, {65536, 2}}));
  EXPECT_EQ(lasting->temporary, 0u);
  program.close_input();
  EXPECT_EQ(program.wait(), 0) << "the target lives on";
}

KERNEL_TEST_OF_COUNTS(lives, threads_hand_blocks_to_each_other) {
  LedgerProgram program({.program = "handovers"});
  Trace trace = Trace::attach(program.pid(), way, {"--by", "thread"});
  const Ledger ledger = program.run();
  const Report report = trace.finish();
  EXPECT_TRUE(report.exact);
  std::map<std::string, std::uint64_t> freed_by_others;
  for (const ReportStack& stack : report.stacks) {
    for (const auto& [tid, thread] : stack.threads) freed_by_others[stack.direct_caller()] += thread.freed_by_others;
  }
  EXPECT_EQ(freed_by_others["request"], 50u);
  EXPECT_EQ(freed_by_others["answer"], 25u);
  const ReportStack* of_workers = nullptr;
  for (const ReportStack& stack : report.stacks) {
    if (stack.direct_caller() != "by_worker") continue;
    EXPECT_EQ(of_workers, nullptr) << "stacks that differ in their thread alone are one";
    of_workers = &stack;
  }
  ASSERT_NE(of_workers, nullptr);
  EXPECT_EQ(of_workers->numbers, ledger.sites.at("by_worker"));
  ASSERT_EQ(of_workers->threads.size(), 3u);
  // Of each 40 blocks, 20 of which the next thread has freed; the last one's first ten the main thread.
  const std::array<std::uint64_t, 3> others = {20, 20, 10};
  const std::array<std::uint64_t, 3> own = {0, 10, 10};
  for (std::uint64_t worker = 0; worker < 3; ++worker) {
    const ReportThread& thread = of_workers->threads.at(ledger.values.at("tid_" + std::to_string(worker)));
    EXPECT_EQ(thread.numbers.allocated_count, 40u);
    EXPECT_EQ(thread.numbers.allocated_bytes, 40 * 100 * (worker + 1) + 39 * 40 / 2);
    EXPECT_EQ(thread.numbers.freed_count, others[worker] + own[worker]);
    EXPECT_EQ(thread.freed_by_others, others[worker]);
    EXPECT_EQ(thread.name, worker == 0 ? "first" : "others");
  }
  program.close_input();
  EXPECT_EQ(program.wait(), 0) << "the target lives on";
}

/// Traces ledgers/peak.c, whose heap is read between its phases and at no other time.
std::pair<Ledger, Report> trace_peak(Way way, std::vector<std::string> options) {
  options.insert(options.end(), {"--interval", "1h"});
  LedgerProgram program({.program = "peak"});
  Trace trace = Trace::attach(program.pid(), way, options);
  program.send_byte();
  for (std::uint64_t reading = 1; reading <= 2; ++reading) {
    EXPECT_EQ(program.read_line(), "phase");
    trace.mark(reading);  // the counters are read then
    program.send_byte();
  }
  Ledger ledger = read_ledger(program);
  Report report = trace.finish();
  program.close_input();
  EXPECT_EQ(program.wait(), 0) << "the target lives on";
  return {std::move(ledger), std::move(report)};
}

KERNEL_TEST_OF_COUNTS(lives, a_peak_between_readings_is_bounded) {
  const auto [ledger, report] = trace_peak(way, {});
  EXPECT_EQ(report.peak_live_bytes, ledger.values.at("seen"));
  EXPECT_EQ(report.peak_live_bytes_most, ledger.values.at("most"));
  EXPECT_GE(report.peak_live_bytes_most, ledger.values.at("peak"));
  EXPECT_LT(report.live.allocated_bytes, ledger.values.at("seen"));
}

/// Not of those whose traces are recorded: a recording has the peak of its intervals, of which there is none here.
constexpr Way kOtherWays[] = {Way::kPointsArena, Way::kSessionHash, Way::kMultiArena};
KERNEL_TEST_ON(lives, each_stack_has_what_it_held_at_the_peak, kOtherWays) {
  const auto [ledger, report] = trace_peak(way, {"--at-peak"});
  EXPECT_EQ(report.live.allocated_bytes, ledger.values.at("seen"));
  std::map<std::string, std::uint64_t> held;
  for (const ReportStack& stack : report.stacks) held[stack.direct_caller()] += stack.live.allocated_bytes;
  EXPECT_EQ(held["base"], ledger.values.at("seen") / 3);
  EXPECT_EQ(held["seen"], ledger.values.at("seen") / 3 * 2);
  EXPECT_EQ(held["hidden"], 0u);
}

constexpr Way kTwoWays[] = {Way::kSessionArena, Way::kMultiHash};
/// It is no error that there is nothing to tell apart.
KERNEL_TEST_ON(lives, a_program_that_allocates_nothing_has_no_threads, kTwoWays) {
  LedgerProgram program({.program = "handovers"});
  Trace trace = Trace::attach(program.pid(), way, {"--by", "thread", "--histograms"});
  const Report report = trace.finish();
  EXPECT_TRUE(report.exact);
  EXPECT_TRUE(report.stacks.empty());
  program.run();
  program.close_input();
  EXPECT_EQ(program.wait(), 0) << "the target lives on";
}

}  // namespace
}  // namespace hawk
