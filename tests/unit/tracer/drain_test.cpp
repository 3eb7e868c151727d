#include "userspace/tracer/drain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>

#include "tests/unit/tracer/fake_maps.h"
#include "tests/unit/tracer/interrupted_at_read.h"

namespace hawk {
namespace {

std::vector<std::uint64_t> words_of(const NewStack& stack) {
  std::vector<std::uint64_t> words;
  for (const std::uint32_t number : stack.frames.numbers()) words.push_back(stack.frames.word(number));
  return words;
}

TEST(Drain, SumsTheStripesOfEachStack) {
  FakeMaps maps;
  const std::uint32_t stack = maps.add_stack({0x1000, 0x2000});
  maps.counters(0, stack) = {.allocated_bytes = 100, .allocated_count = 3, .freed_bytes = 0, .freed_count = 0};
  maps.counters(1, stack) = {.allocated_bytes = 11, .allocated_count = 1, .freed_bytes = 60, .freed_count = 2};
  const Drained drained = Drain().read(maps.maps()).front();
  ASSERT_EQ(drained.counters.size(), 1u);
  EXPECT_EQ(drained.counters[0].id, StackId{stack});
  EXPECT_EQ(drained.counters[0].counters, (Counters{111, 4, 60, 2}));
}

TEST(Drain, GivesTheFramesOfAStackOnceAndItsCountersAlways) {
  FakeMaps maps;
  const std::uint32_t stack = maps.add_stack({0x1000, 0x2000});
  maps.counters(0, stack).allocated_count = 1;
  Drain drain;
  const Drained first = drain.read(maps.maps()).front();
  ASSERT_EQ(first.new_stacks.size(), 1u);
  EXPECT_EQ(words_of(first.new_stacks[0]), (std::vector<std::uint64_t>{0x1000, 0x2000}));
  const Drained second = drain.read(maps.maps()).front();
  EXPECT_TRUE(second.new_stacks.empty());
  EXPECT_EQ(second.counters.size(), 1u);
}

TEST(Drain, GivesHowAWalkEndedAndItsFramesAsTheKernelMarkedThem) {
  FakeMaps maps;
  const std::uint32_t stack = maps.add_stack({0x1000, 0x2000 | HAWK_FRAME_INTERRUPTED});
  maps.record(stack).end = HAWK_END_GAP;
  maps.record(stack).guessed = 1;
  maps.counters(0, stack).allocated_count = 1;
  const Drained drained = Drain().read(maps.maps()).front();
  ASSERT_EQ(drained.new_stacks.size(), 1u);
  EXPECT_EQ(drained.new_stacks[0].end, HAWK_END_GAP);
  EXPECT_TRUE(drained.new_stacks[0].guessed);
  EXPECT_EQ(words_of(drained.new_stacks[0]), (std::vector<std::uint64_t>{0x1000, 0x2000 | HAWK_FRAME_INTERRUPTED}));
}

TEST(Drain, SaysWhatHadBeenFreedBefore) {
  FakeMaps maps;
  const std::uint32_t one = maps.add_stack({0x1000});
  const std::uint32_t other = maps.add_stack({0x2000}, 5 * HAWK_NEXT_PROGRAM);  // of a program that has ended
  maps.counters(0, one) = {.allocated_bytes = 100, .allocated_count = 3, .freed_bytes = 20, .freed_count = 1};
  maps.counters(1, one) = {.allocated_bytes = 0, .allocated_count = 0, .freed_bytes = 30, .freed_count = 1};
  maps.counters(0, other) = {.allocated_bytes = 100, .allocated_count = 3, .freed_bytes = 20, .freed_count = 1};
  EXPECT_EQ(Drain().read(maps.maps()).front().freed_bytes_before, 50u);
}

// A number is handed out before its record is complete, and may stay unused when two threads meet the same new stack.
TEST(Drain, PassesOverNumbersThatNothingWasBookedOn) {
  FakeMaps maps;
  maps.add_stack({0x1000});
  EXPECT_TRUE(Drain().read(maps.maps()).front().counters.empty());
}

TEST(Drain, KeepsTheReservedNumbersOutOfTheStacks) {
  FakeMaps maps;
  maps.counters(0, HAWK_IN_HAND).allocated_count = 5;
  maps.counters(1, HAWK_NESTED).allocated_count = 5;
  maps.counters(0, HAWK_UNTRACED).freed_count = 2;
  maps.counters(1, HAWK_UNTRACED).freed_count = 3;
  maps.counters(1, HAWK_NO_STACK) = {.allocated_bytes = 9, .allocated_count = 1, .freed_bytes = 0, .freed_count = 0};
  const Drained drained = Drain().read(maps.maps()).front();
  EXPECT_EQ(drained.frees_of_untraced, 5u);
  ASSERT_EQ(drained.counters.size(), 1u);
  EXPECT_EQ(drained.counters[0].id, kNoStack);
}

TEST(Drain, CountsTheFreesOfUnknownBlocksForTheProgramThatRuns) {
  FakeMaps maps;
  Drain drain;
  const auto frees = [&] { return drain.read(maps.maps()).front().frees_of_untraced; };
  maps.counters(0, HAWK_UNTRACED).freed_count = 7;
  maps.counters(1, HAWK_UNTRACED).freed_count = 3;
  EXPECT_EQ(frees(), 10u);
  maps.target(0).frees_before[hawk_frees_before(FakeMaps::kProgram + HAWK_NEXT_PROGRAM)] = 12;
  EXPECT_EQ(frees(), 10u) << "the next program does not run yet";
  maps.target(0).program = FakeMaps::kProgram + HAWK_NEXT_PROGRAM;
  EXPECT_EQ(frees(), 0u) << "two of the frees have not been read";
  maps.counters(1, HAWK_UNTRACED).freed_count = 10;
  EXPECT_EQ(frees(), 5u);
  drain.count_from_zero(maps.maps(), {FakeMaps::kProgram + HAWK_NEXT_PROGRAM});
  EXPECT_EQ(frees(), 0u);
  maps.target(0).frees_before[hawk_frees_before(FakeMaps::kProgram + HAWK_NEXT_PROGRAM)] = 0;
  maps.counters(0, HAWK_UNTRACED).freed_count = 9;
  EXPECT_EQ(frees(), 2u) << "another process, in the same place";
}

TEST(Drain, GivesEachTargetWhatTheProgramHasThatItRuns) {
  FakeMaps maps;
  hawk_target& other = maps.target(1);
  other.first_program = HAWK_NEXT_PROGRAM | 1;
  other.program = 3 * HAWK_NEXT_PROGRAM | 1;  // it has replaced its program twice
  other.losses[HAWK_LOSS_LOST_CALL] = 4;
  other.reserved_numbers = maps.state().next_stack;
  maps.state().next_stack += HAWK_RESERVED_NUMBERS;
  maps.counters(0, other.reserved_numbers + HAWK_UNTRACED).freed_count = 6;
  other.no_stack = maps.add_stack({}, other.program);
  const std::uint32_t first = maps.add_stack({0x1000});
  const std::uint32_t old = maps.add_stack({0x2000}, other.first_program);
  const std::uint32_t second = maps.add_stack({0x3000}, other.program);
  for (const std::uint32_t stack : {first, old, second, other.no_stack})
    maps.counters(1, stack).allocated_count = stack;
  const std::vector<Drained> drained = Drain().read(maps.maps());
  ASSERT_EQ(drained.size(), 2u) << "and no others are in use";
  ASSERT_EQ(drained[0].counters.size(), 1u);
  EXPECT_EQ(drained[0].counters[0].id, StackId{first});
  EXPECT_EQ(drained[0].exec_epoch, 0u);
  ASSERT_EQ(drained[1].counters.size(), 2u);
  EXPECT_EQ(drained[1].counters[0].id, kNoStack);
  EXPECT_EQ(drained[1].counters[1].id, StackId{second});
  EXPECT_EQ(drained[1].exec_epoch, 2u);
  EXPECT_EQ(drained[1].frees_of_untraced, 6u);
  EXPECT_EQ(drained[1].losses[HAWK_LOSS_LOST_CALL], 4u);
  EXPECT_EQ(drained[0].losses.total(), 0u);
}

TEST(Drain, StacksOfATargetThatIsNotKnownYetAreGivenLater) {
  FakeMaps maps;
  const std::uint32_t stack = maps.add_stack({0x1000});
  maps.counters(0, stack).allocated_count = 3;
  Drain drain;
  const Drained before = drain.read(maps.maps(), [](std::uint32_t) { return false; }).front();
  EXPECT_TRUE(before.counters.empty());
  const Drained after = drain.read(maps.maps()).front();
  ASSERT_EQ(after.counters.size(), 1u);
  EXPECT_EQ(after.counters[0].counters.allocated_count, 3u);
  EXPECT_EQ(after.new_stacks.size(), 1u);
}

TEST(Drain, ProgramThatIsGivenAgainCountsFromZero) {
  FakeMaps maps;
  const std::uint32_t stack = maps.add_stack({0x1000});
  maps.counters(0, stack) = {.allocated_bytes = 30, .allocated_count = 3, .freed_bytes = 10, .freed_count = 1};
  maps.counters(1, HAWK_UNTRACED).freed_count = 5;
  Drain drain;
  drain.read(maps.maps());
  drain.count_from_zero(maps.maps(), {maps.target(0).program});
  EXPECT_TRUE(drain.read(maps.maps()).front().counters.empty());
  maps.counters(1, stack) = {.allocated_bytes = 8, .allocated_count = 1, .freed_bytes = 0, .freed_count = 0};
  maps.counters(0, HAWK_UNTRACED).freed_count = 2;
  const Drained drained = drain.read(maps.maps()).front();
  ASSERT_EQ(drained.counters.size(), 1u);
  EXPECT_EQ(drained.counters[0].counters, (Counters{8, 1, 0, 0}));
  EXPECT_EQ(drained.frees_of_untraced, 2u);
  EXPECT_EQ(drained.new_stacks.size(), 1u) << "for who has it now";
}

TEST(Drain, CountersBeyondTheTableAreNotRead) {
  FakeMaps maps;
  maps.state().next_stack = FakeMaps::kStacks + 100;  // numbers were asked for when the table was full
  maps.target(0).losses[HAWK_LOSS_STACK_TABLE_FULL] = 100;
  const Drained drained = Drain().read(maps.maps()).front();
  EXPECT_TRUE(drained.counters.empty());
  EXPECT_EQ(drained.losses[HAWK_LOSS_STACK_TABLE_FULL], 100u);
}

std::int64_t live_bytes(const Drained& drained) {
  std::int64_t sum = 0;
  for (const StackCounters& stack : drained.counters) sum += static_cast<std::int64_t>(stack.counters.live_bytes());
  return sum;
}

// One block is freed and another one allocated, on any stripe and stack, before any counter that the drain reads.
TEST(Drain, NeverSeesMoreLiveThanThereEverWas) {
  constexpr std::uint64_t kBytes = 1000;
  std::int64_t most = 0;
  unsigned long instants = 0;
  const auto drain_interrupted_at = [&](unsigned long read, std::uint32_t freeing, std::uint32_t allocating) {
    FakeMaps maps;
    const std::uint32_t first = maps.add_stack({0x1000});
    const std::uint32_t second = maps.add_stack({0x2000});
    maps.counters(0, first) = {.allocated_bytes = kBytes, .allocated_count = 1, .freed_bytes = 0, .freed_count = 0};
    maps.counters(0, second) = {.allocated_bytes = 8, .allocated_count = 1, .freed_bytes = 8, .freed_count = 1};
    const std::span<const hawk_counters> all = maps.maps().counters.as<hawk_counters>();
    Drain drain;
    Drained drained;
    const bool was = InterruptedAtRead::run(
        {.data = all.data(), .bytes = all.size_bytes()}, read, [&] { drained = drain.read(maps.maps()).front(); },
        [&] {
          maps.counters(freeing, first).freed_bytes += kBytes;
          maps.counters(freeing, first).freed_count += 1;
          maps.counters(allocating, second).allocated_bytes += kBytes;
          maps.counters(allocating, second).allocated_count += 1;
        });
    most = std::max(most, live_bytes(drained));
    instants += was;
    return was;
  };
  for (const std::uint32_t freeing : {0u, 1u}) {
    for (const std::uint32_t allocating : {0u, 1u}) {
      for (unsigned long read = 0; drain_interrupted_at(read, freeing, allocating); ++read) continue;
    }
  }
  EXPECT_EQ(most, static_cast<std::int64_t>(kBytes));
  EXPECT_GE(instants, 4u * 2 * 2 * 4)
      << "four counters of two stacks on two stripes, in four ways to spread the change";
}

TEST(PendingOn, IsWhatWasBegunAndNotFinishedOnAnyStripe) {
  FakeMaps maps;
  maps.counters(0, HAWK_IN_HAND) = {.allocated_bytes = 64, .allocated_count = 2, .freed_bytes = 0, .freed_count = 0};
  maps.counters(1, HAWK_IN_HAND) = {.allocated_bytes = 0, .allocated_count = 0, .freed_bytes = 24, .freed_count = 1};
  EXPECT_EQ(pending_on(maps.maps(), HAWK_IN_HAND), (Pending{.bytes = 40, .count = 1}));
}

}  // namespace
}  // namespace hawk
