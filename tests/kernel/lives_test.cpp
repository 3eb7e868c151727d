// The lives of blocks by stack: sizes and lifetimes.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>

#include "bpf/clock.h"
#include "tests/kernel/harness/engine_world.h"
#include "tests/kernel/harness/kernel_test.h"
#include "tests/kernel/harness/ledger.h"

namespace hawk {
namespace {

/// The lives of the stack that has allocated so many blocks; nullopt: not one has.
std::optional<StackLives> lives_of(const TargetLives& lives, std::uint64_t allocated) {
  std::optional<StackLives> found;
  for (const StackLives& own : *lives.stacks) {
    std::uint64_t sum = 0;
    for (const std::uint64_t count : own.histograms.sizes) sum += count;
    if (sum == allocated) found = own;
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
  const TestEngine world(way, false, true);
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
  const std::optional<StackLives> sizes = lives_of(lives, 67);
  ASSERT_TRUE(sizes.has_value());
  Classes expected = {{0, 1}, {1, 1}, {1ULL << 33, 1}};
  for (int power = 1; power < 33; ++power) expected[1ULL << power] = 2;
  EXPECT_EQ(classes(sizes->histograms.sizes), expected);
  EXPECT_EQ(classes(sizes->histograms.lifetimes), (Classes{{0, 67}}));
  EXPECT_EQ(sizes->histograms.temporary, 67u);
  const std::optional<StackLives> temporary = lives_of(lives, 25);
  ASSERT_TRUE(temporary.has_value());
  EXPECT_EQ(temporary->histograms.temporary, 25u);
  const std::optional<StackLives> lasting = lives_of(lives, 10);
  ASSERT_TRUE(lasting.has_value());
  EXPECT_EQ(classes(lasting->histograms.sizes), (Classes{{64, 10}}));
  EXPECT_EQ(classes(lasting->histograms.lifetimes), (Classes{{1, 2}, {256, 2}, {65536, 2}}));
  EXPECT_EQ(lasting->histograms.temporary, 0u);
  program.close_input();
  EXPECT_EQ(program.wait(), 0) << "the target lives on";
}

}  // namespace
}  // namespace hawk
