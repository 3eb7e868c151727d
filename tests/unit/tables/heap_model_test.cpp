#include "userspace/tables/heap_model.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/tables/drained_samples.h"

namespace hawk {
namespace {

TEST(HeapModel, TotalsAreTheSumOverStacks) {
  HeapModel model;
  Drained drained;
  drained.new_stacks = {stack(5, {0x10}), stack(6, {0x20, 0x30})};
  drained.counters = {counters(5, 800, 80), counters(6, 1600, 0)};
  drained.frees_of_untraced = 7;
  drained.losses[HAWK_LOSS_LIVE_TABLE_FULL] = 2;
  model.update(drained, resolve_nothing);

  const Snapshot snapshot = model.snapshot();
  EXPECT_EQ(snapshot.totals, (Counters{2400, 300, 80, 10}));
  EXPECT_EQ(snapshot.frees_of_untraced, 7u);
  EXPECT_FALSE(snapshot.exact());
  ASSERT_EQ(snapshot.stacks.size(), 2u);
  EXPECT_EQ(snapshot.stacks[1].frames.size(), 2u);
}

TEST(HeapModel, PeakIsTheHighestOfAllDrains) {
  HeapModel model;
  Drained drained;
  drained.new_stacks = {stack(5, {0x10})};
  drained.counters = {counters(5, 800, 0)};
  model.update(drained, resolve_nothing);
  drained.new_stacks.clear();
  drained.counters = {counters(5, 1600, 1592)};
  model.update(drained, resolve_nothing);
  EXPECT_EQ(model.snapshot().totals.live_bytes(), 8u);
  EXPECT_EQ(model.snapshot().peak_live_bytes, 800u);
}

// Drains read what was freed after what was allocated: what comes in between is freed only.
TEST(HeapModel, NothingIsLiveWhereMoreWasFreedThanAllocated) {
  HeapModel model;
  Drained drained;
  drained.new_stacks = {stack(5, {0x10}), stack(6, {0x20})};
  drained.counters = {counters(5, 800, 880), counters(6, 160, 0)};
  model.update(drained, resolve_nothing);
  const Snapshot snapshot = model.snapshot();
  EXPECT_EQ(snapshot.stacks.at(0).counters.live_bytes(), 0u);
  EXPECT_EQ(snapshot.stacks.at(0).counters.live_count(), 0u);
  EXPECT_EQ(snapshot.totals.live_bytes(), 160u);
  EXPECT_EQ(snapshot.peak_live_bytes, 160u);
}

// A stack of which more is read to be freed than allocated takes from what the others seem to hold.
TEST(HeapModel, ThePeakIsNeverMoreThanWasPossible) {
  HeapModel model;
  Drained drained;
  drained.new_stacks = {stack(5, {0x10}), stack(6, {0x20})};
  drained.counters = {counters(5, 800, 880), counters(6, 160, 0)};
  model.update(drained, resolve_nothing);
  drained.new_stacks.clear();
  drained.counters = {counters(5, 880, 880), counters(6, 160, 160)};
  model.update(drained, resolve_nothing);
  EXPECT_EQ(model.snapshot().peak_live_bytes, 80u);
}

TEST(HeapModel, ThePeakIsBoundedFromAbove) {
  HeapModel model;
  Drained drained;
  drained.new_stacks = {stack(5, {0x10})};
  drained.counters = {counters(5, 800, 0)};
  model.update(drained, resolve_nothing);
  EXPECT_EQ(model.snapshot().peak_live_bytes_most, 800u) << "all that was allocated may have been live together";
  drained.new_stacks.clear();
  drained.counters = {counters(5, 8000, 7920)};
  drained.freed_bytes_before = 7200;
  model.update(drained, resolve_nothing);
  EXPECT_EQ(model.most_live_bytes(), 8000u);
  drained.counters = {counters(5, 8080, 7920)};
  drained.freed_bytes_before = 7920;
  model.update(drained, resolve_nothing);
  EXPECT_EQ(model.most_live_bytes(), 880u) << "no less had been freed since the drain before";
  EXPECT_EQ(model.snapshot().peak_live_bytes, 800u);
  EXPECT_EQ(model.snapshot().peak_live_bytes_most, 8000u);
}

TEST(HeapModel, TheStateAtThePeakIsKept) {
  HeapModel model;
  Drained drained;
  drained.new_stacks = {stack(5, {0x10})};
  drained.counters = {counters(5, 800, 80)};
  model.update(drained, resolve_nothing);
  EXPECT_EQ(model.snapshot_at_peak().totals, Counters{}) << "nothing was kept yet";
  model.keep_peak();
  drained.new_stacks = {stack(6, {0x20})};
  drained.counters = {counters(5, 880, 880), counters(6, 80, 0)};
  model.update(drained, resolve_nothing);
  const Snapshot then = model.snapshot_at_peak();
  ASSERT_EQ(then.stacks.size(), 1u) << "the other came later";
  EXPECT_EQ(then.stacks[0].counters, (Counters{800, 100, 80, 10}));
  EXPECT_EQ(then.totals, (Counters{800, 100, 80, 10}));
  drained.exec_epoch = 1;
  model.update(drained, resolve_nothing);
  EXPECT_EQ(model.snapshot_at_peak().totals, Counters{}) << "it was of another program";
}

TEST(HeapModel, AHeapThatWasEmptyAtThePeakHasNothingThen) {
  HeapModel model;
  model.update({}, resolve_nothing);
  model.keep_peak();
  Drained drained;
  drained.new_stacks = {stack(5, {0x10})};
  drained.counters = {counters(5, 800, 80)};
  model.update(drained, resolve_nothing);
  EXPECT_EQ(model.snapshot_at_peak().totals, Counters{});
  EXPECT_TRUE(model.snapshot_at_peak().stacks.empty());
}

TEST(HeapModel, ThreadsAreToldApartBeforeOneAllocates) {
  HeapModel model;
  model.update({}, resolve_nothing);
  model.take_lives({.ages = {}, .stacks = {}, .thread_names = std::vector<ThreadName>{}});
  EXPECT_TRUE(model.snapshot().threads);
  model.take_lives({.ages = {}});
  EXPECT_FALSE(model.snapshot().threads);
}

NewStack of_thread(NewStack stack, int tid) {
  stack.tid = tid;
  return stack;
}

TEST(HeapModel, StacksThatDifferInTheirThreadAloneAreOne) {
  constexpr std::uint32_t kFreedByOthers = BlockHistograms::kFreedByOthersNumber;
  HeapModel model;
  Drained drained;
  drained.new_stacks = {of_thread(stack(5, {0x10, 0x20}), 71), of_thread(stack(6, {0x10}), 71),
                        of_thread(stack(7, {0x10, 0x20}), 72)};
  drained.counters = {counters(5, 800, 80), counters(6, 8, 0), counters(7, 1600, 0)};
  model.update(drained, resolve_nothing);
  drained.new_stacks = {of_thread(stack(4, {0x10, 0x20}), 73)};
  drained.counters.insert(drained.counters.begin(), counters(4, 16, 16));
  model.update(drained, resolve_nothing);
  model.take_lives({.ages = {.now_ms = 9,
                             .blocks = {{.stack = StackId{5}, .born_ms = 1, .bytes = 720, .count = 90},
                                        {.stack = StackId{7}, .born_ms = 1, .bytes = 1600, .count = 200}}},
                    .stacks = std::vector<StackLives>{{StackId{5}, {}, kFreedByOthers, 3},
                                                      {StackId{7}, {}, 2, 9},
                                                      {StackId{7}, {}, kFreedByOthers, 4}},
                    .thread_names = std::vector<ThreadName>{{.target = {}, .tid = 71, .name = "pool"}}});
  const Snapshot snapshot = model.snapshot();
  ASSERT_EQ(snapshot.stacks.size(), 2u);
  EXPECT_EQ(snapshot.stacks[0].id, StackId{5}) << "it was there first, and keeps its number";
  EXPECT_EQ(snapshot.stacks[0].counters, (Counters{2416, 302, 96, 12}));
  EXPECT_EQ(snapshot.totals, (Counters{2424, 303, 96, 12}));
  ASSERT_TRUE(snapshot.threads);
  std::vector<std::pair<int, std::uint64_t>> of_five;
  for (const ThreadShare& share : snapshot.threads->shares) {
    if (share.stack == StackId{5}) of_five.emplace_back(share.tid, share.counters.live_bytes());
  }
  EXPECT_EQ(of_five, (std::vector<std::pair<int, std::uint64_t>>{{71, 720}, {72, 1600}, {73, 0}}));
  EXPECT_EQ(snapshot.threads->names.size(), 1u);
  EXPECT_EQ(snapshot.ages->blocks,
            (std::vector<AgedBlocks>{{.stack = StackId{5}, .born_ms = 1, .bytes = 2320, .count = 290}}));
  EXPECT_EQ(*snapshot.lives, (std::vector<StackLives>{{StackId{5}, {}, 2, 9}, {StackId{5}, {}, kFreedByOthers, 7}}));
  model.update(drained, resolve_nothing);
  EXPECT_FALSE(model.snapshot().ages || model.snapshot().threads) << "they were of the drain before";
}

TEST(HeapModel, FramesKeepTheModuleTheyHadWhenTheStackWasNew) {
  HeapModel model;
  Drained drained;
  drained.new_stacks = {stack(5, {0x1234})};
  drained.counters = {counters(5, 8, 0)};
  model.update(drained, resolve_to_module_3);
  drained.new_stacks.clear();
  model.update(drained, resolve_nothing);
  const Snapshot snapshot = model.snapshot();
  ASSERT_EQ(snapshot.stacks.at(0).frames.size(), 1u);
  const Location& frame = snapshot.location(snapshot.stacks[0].frames[0]);
  EXPECT_EQ(frame.module, ModuleId{3});
  EXPECT_EQ(frame.module_offset, 0x234u);
}

TEST(HeapModel, ExecDropsWhatTheOldProgramHeld) {
  HeapModel model;
  Drained drained;
  drained.new_stacks = {stack(5, {0x10}), stack(0, {})};
  drained.counters = {counters(0, 80, 0), counters(5, 800, 0)};
  model.update(drained, resolve_nothing);

  drained.exec_epoch = 1;
  drained.new_stacks = {stack(0, {}), stack(9, {0x10})};
  drained.counters = {counters(0, 16, 0), counters(9, 16, 0)};
  model.update(drained, resolve_nothing);
  const Snapshot snapshot = model.snapshot();
  EXPECT_EQ(snapshot.totals.allocated_bytes, 32u);
  EXPECT_EQ(snapshot.peak_live_bytes, 32u);
  EXPECT_EQ(snapshot.stacks.size(), 2u);
}

std::vector<std::uint32_t> ids_of(const Snapshot& snapshot) {
  std::vector<std::uint32_t> ids;
  for (const StackRecord& stack : snapshot.stacks) ids.push_back(static_cast<std::uint32_t>(stack.id));
  return ids;
}

TEST(HeapModel, StacksOfLaterDrainsFindTheirPlaceAmongTheOthers) {
  HeapModel model;
  Drained drained;
  drained.new_stacks = {stack(4, {0x40, 0x10}), stack(9, {0x90, 0x10})};
  drained.counters = {counters(4, 400, 0), counters(9, 960, 0)};
  model.update(drained, resolve_nothing);
  drained.new_stacks = {stack(12, {0xc0, 0x10}), stack(2, {0x20, 0x10}), stack(5, {})};
  drained.counters = {counters(12, 1200, 0), counters(2, 200, 0), counters(4, 480, 0), counters(5, 560, 0),
                      counters(9, 960, 0)};
  model.update(drained, resolve_nothing);

  const Snapshot snapshot = model.snapshot();
  ASSERT_EQ(ids_of(snapshot), (std::vector<std::uint32_t>{2, 4, 5, 9, 12}));
  EXPECT_EQ(addresses_of(snapshot, snapshot.stacks[0]), (std::vector<std::uint64_t>{0x20, 0x10}));
  EXPECT_EQ(addresses_of(snapshot, snapshot.stacks[1]), (std::vector<std::uint64_t>{0x40, 0x10}));
  EXPECT_TRUE(snapshot.stacks[2].frames.empty());
  EXPECT_EQ(addresses_of(snapshot, snapshot.stacks[3]), (std::vector<std::uint64_t>{0x90, 0x10}));
  EXPECT_EQ(addresses_of(snapshot, snapshot.stacks[4]), (std::vector<std::uint64_t>{0xc0, 0x10}));
  EXPECT_EQ(snapshot.stacks[1].counters.allocated_bytes, 480u);
  EXPECT_EQ(snapshot.stacks[4].counters.allocated_bytes, 1200u);
  EXPECT_EQ(snapshot.locations.size(), 5u) << "every location once";
}

TEST(HeapModel, StackThatComesAgainTakesThePlaceOfTheFirst) {
  HeapModel model;
  Drained drained;
  drained.new_stacks = {stack(5, {0x10}), stack(6, {0x20})};
  drained.counters = {counters(5, 800, 0), counters(6, 80, 0)};
  model.update(drained, resolve_nothing);
  drained.new_stacks = {stack(5, {0x30, 0x20})};
  model.update(drained, resolve_nothing);
  const Snapshot snapshot = model.snapshot();
  ASSERT_EQ(ids_of(snapshot), (std::vector<std::uint32_t>{5, 6}));
  EXPECT_EQ(addresses_of(snapshot, snapshot.stacks[0]), (std::vector<std::uint64_t>{0x30, 0x20}));
  EXPECT_EQ(snapshot.totals.allocated_bytes, 880u);
}

TEST(HeapModel, AnAddressIsResolvedOnceADrainAndAgainInLaterOnes) {
  HeapModel model;
  Drained drained;
  std::vector<std::uint64_t> resolved;
  const FrameResolver resolve = [&](std::uint64_t address) {
    resolved.push_back(address);
    return resolve_to_module_3(address);
  };
  for (std::uint32_t id = 1; id <= 3000; ++id) drained.new_stacks.push_back(stack(id, {0x10000 + id % 1500, 0x1234}));
  for (std::uint32_t id = 1; id <= 3000; ++id) drained.counters.push_back(counters(id, 8, 0));
  model.update(drained, resolve);
  EXPECT_EQ(resolved.size(), 1501u);
  EXPECT_EQ(model.snapshot().locations.size(), 1501u);

  // Something else may be mapped there by now.
  resolved.clear();
  drained.new_stacks = {stack(4000, {0x1234, 0x1234})};
  drained.counters.push_back(counters(4000, 8, 0));
  model.update(drained, [&](std::uint64_t address) {
    resolved.push_back(address);
    return resolve_nothing(address);
  });
  EXPECT_EQ(resolved, std::vector<std::uint64_t>{0x1234});
  const Snapshot snapshot = model.snapshot();
  EXPECT_EQ(snapshot.location(snapshot.stacks[0].frames[1]).module, ModuleId{3});
  EXPECT_EQ(snapshot.location(snapshot.stacks.back().frames[1]).module, std::nullopt);
}

TEST(HeapModel, AnInterruptedInstructionIsNotTheReturnAddressThere) {
  HeapModel model;
  Drained drained;
  std::vector<std::uint64_t> resolved;
  drained.new_stacks = {stack(5, {0x1234, 0x1234 | HAWK_FRAME_INTERRUPTED, 0x1234 | HAWK_FRAME_INTERRUPTED, 0x1240})};
  drained.counters = {counters(5, 8, 0)};
  model.update(drained, [&](std::uint64_t address) {
    resolved.push_back(address);
    return resolve_to_module_3(address);
  });
  EXPECT_EQ(resolved, (std::vector<std::uint64_t>{0x1234, 0x1234, 0x1240})) << "the mark is no part of an address";
  const Snapshot snapshot = model.snapshot();
  EXPECT_EQ(snapshot.locations, (SharedTable<Location>{{0x1234, ModuleId{3}, 0x234, false},
                                                       {0x1234, ModuleId{3}, 0x234, true},
                                                       {0x1240, ModuleId{3}, 0x240, false}}));
  const StackFrames& frames = snapshot.stacks.at(0).frames;
  EXPECT_EQ(std::vector<LocationId>(frames.begin(), frames.end()),
            (std::vector<LocationId>{LocationId{0}, LocationId{1}, LocationId{1}, LocationId{2}}));
}

TEST(HeapModel, StacksKeepHowTheirWalksEnded) {
  HeapModel model;
  Drained drained;
  drained.new_stacks = {stack(4, {0x10}), stack(5, {0x10}), stack(6, {0x10})};
  drained.new_stacks[1].guessed = true;
  drained.new_stacks[2].end = HAWK_END_UNSUPPORTED;
  drained.counters = {counters(4, 8, 0), counters(5, 8, 0), counters(6, 8, 0)};
  model.update(drained, resolve_nothing);
  const Snapshot snapshot = model.snapshot();
  EXPECT_EQ(snapshot.stacks.at(0).quality(), HAWK_STACK_COMPLETE);
  EXPECT_EQ(snapshot.stacks.at(1).quality(), HAWK_STACK_GUESSED);
  EXPECT_EQ(snapshot.stacks.at(2).quality(), HAWK_STACK_TRUNCATED);
  EXPECT_EQ(snapshot.stacks.at(2).end, HAWK_END_UNSUPPORTED);
}

}  // namespace
}  // namespace hawk
