#include "userspace/tables/heap_model.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/tables/kernel_frames.h"

namespace hawk {
namespace {

Location resolve_nothing(std::uint64_t address) {
  return {.address = address, .module = std::nullopt, .module_offset = 0};
}

Location resolve_to_module_3(std::uint64_t address) {
  return {.address = address, .module = ModuleId{3}, .module_offset = address - 0x1000};
}

NewStack stack(std::uint32_t id, const std::vector<std::uint64_t>& words) {
  static KernelFrames kernel;
  return {.id = StackId{id}, .frames = kernel.frames(words)};
}

StackCounters counters(std::uint32_t id, std::uint64_t allocated_bytes, std::uint64_t freed_bytes) {
  return {.id = StackId{id},
          .counters = {.allocated_bytes = allocated_bytes,
                       .allocated_count = allocated_bytes / 8,
                       .freed_bytes = freed_bytes,
                       .freed_count = freed_bytes / 8}};
}

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

std::vector<std::uint64_t> addresses_of(const Snapshot& snapshot, const StackRecord& record) {
  std::vector<std::uint64_t> addresses;
  for (const LocationId location : record.frames) addresses.push_back(snapshot.location(location).address);
  return addresses;
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

SpareStacks spare_of(const Snapshot& snapshot) { return {snapshot.stacks, snapshot.known_of_stacks}; }

TEST(HeapModel, ASnapshotIsTheSameWhateverStacksItIsMadeOf) {
  HeapModel model;
  Drained drained;
  drained.new_stacks = {stack(5, {0x10}), stack(6, {0x20}), stack(8, {0x30})};
  drained.counters = {counters(5, 8, 0), counters(6, 16, 0), counters(8, 8, 0)};
  model.update(drained, resolve_nothing);
  const Snapshot first = model.snapshot();
  EXPECT_EQ(model.snapshot(spare_of(first)), first);

  drained.new_stacks = {stack(7, {0x20, 0x10})};
  drained.counters = {counters(5, 8, 8), counters(6, 24, 0), counters(7, 8, 0), counters(8, 8, 0)};
  model.update(drained, resolve_nothing);
  const Snapshot second = model.snapshot();
  EXPECT_EQ(model.snapshot(spare_of(first)), second) << "of fewer";
  EXPECT_EQ(model.snapshot(spare_of(second)), second) << "of the same";
  EXPECT_EQ(model.snapshot({first.stacks, {}}), second) << "of stacks of which nothing is known";

  // Numbers that stand for other frames now, of which none is new behind the known ones.
  drained.new_stacks = {stack(6, {0x60})};
  model.update(drained, resolve_nothing);
  const Snapshot third = model.snapshot();
  EXPECT_NE(third.stacks.at(1).frames, second.stacks.at(1).frames);
  EXPECT_EQ(model.snapshot(spare_of(second)), third) << "of one that has been replaced";
  drained.new_stacks = {};
  drained.counters = {counters(5, 8, 8), counters(7, 8, 0)};
  model.update(drained, resolve_nothing);
  EXPECT_EQ(model.snapshot(spare_of(third)), model.snapshot()) << "of more";

  // A number that another program gives to other frames.
  drained.exec_epoch = 1;
  drained.new_stacks = {stack(5, {0x40}), stack(7, {0x50})};
  drained.new_stacks[1].guessed = true;
  drained.counters = {counters(5, 8, 0), counters(7, 8, 0)};
  model.update(drained, resolve_nothing);
  EXPECT_EQ(model.snapshot(spare_of(second)), model.snapshot()) << "of more, and of others";

  HeapModel other;
  drained.new_stacks = {stack(5, {0x70}), stack(7, {0x80})};
  other.update(drained, resolve_nothing);
  EXPECT_EQ(other.snapshot(spare_of(model.snapshot())), other.snapshot()) << "of another trace";
}

TEST(HeapModel, KnowsWhetherAllStacksAreComplete) {
  HeapModel model;
  Drained drained;
  drained.new_stacks = {stack(5, {0x10}), stack(6, {0x20})};
  drained.counters = {counters(5, 8, 0), counters(6, 16, 0)};
  model.update(drained, resolve_nothing);
  EXPECT_TRUE(model.snapshot().known_of_stacks.all_complete);
  EXPECT_TRUE(model.snapshot().stacks_complete());
  drained.new_stacks = {stack(7, {0x30})};
  drained.new_stacks[0].guessed = true;
  model.update(drained, resolve_nothing);
  EXPECT_FALSE(model.snapshot().known_of_stacks.all_complete);
  drained.exec_epoch = 1;
  drained.new_stacks = {stack(static_cast<std::uint32_t>(kNoStack), {})};
  drained.counters = {counters(static_cast<std::uint32_t>(kNoStack), 8, 0)};
  model.update(drained, resolve_nothing);
  EXPECT_FALSE(model.snapshot().known_of_stacks.all_complete) << "blocks without a stack";
  EXPECT_FALSE(model.snapshot().stacks_complete());
  drained.exec_epoch = 2;
  drained.new_stacks = {stack(5, {0x10})};
  drained.counters = {counters(5, 8, 0)};
  model.update(drained, resolve_nothing);
  EXPECT_TRUE(model.snapshot().known_of_stacks.all_complete) << "those of the program before are gone";
}

TEST(HeapModel, GivesTheCountersOfTheDrainBeforeBack) {
  HeapModel model;
  Drained drained;
  drained.new_stacks = {stack(5, {0x10})};
  drained.counters = {counters(5, 8, 0)};
  EXPECT_TRUE(model.update(drained, resolve_nothing).empty());
  drained.counters = {counters(5, 16, 0)};
  const std::vector<StackCounters> before = model.update(drained, resolve_nothing);
  ASSERT_EQ(before.size(), 1u);
  EXPECT_EQ(before.front().counters.allocated_bytes, 8u);
}

TEST(HeapModel, SnapshotsShareFramesWithTheModelAndKeepThem) {
  Snapshot snapshot;
  {
    HeapModel model;
    Drained drained;
    drained.new_stacks = {stack(5, {0x10, 0x20})};
    drained.counters = {counters(5, 800, 0)};
    model.update(drained, resolve_nothing);
    snapshot = model.snapshot();
    const Snapshot again = model.snapshot();
    EXPECT_EQ(again.stacks[0].frames.begin(), snapshot.stacks[0].frames.begin()) << "a copy copies no frames";
    EXPECT_EQ(again, snapshot);
    drained.exec_epoch = 1;
    drained.new_stacks = {stack(6, {0x30})};
    drained.counters = {counters(6, 8, 0)};
    model.update(drained, resolve_nothing);
    EXPECT_NE(model.snapshot(), snapshot);
    EXPECT_EQ(model.snapshot().locations.size(), 1u) << "the old program's locations are forgotten";
  }
  EXPECT_EQ(addresses_of(snapshot, snapshot.stacks[0]), (std::vector<std::uint64_t>{0x10, 0x20}));
}

}  // namespace
}  // namespace hawk
