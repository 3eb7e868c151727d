#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/tables/drained_samples.h"
#include "userspace/tables/heap_model.h"

namespace hawk {
namespace {

SpareStacks spare_of(const Snapshot& snapshot) { return {snapshot.stacks, snapshot.known_of_stacks}; }

TEST(HeapModelSnapshots, ASnapshotIsTheSameWhateverStacksItIsMadeOf) {
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

TEST(HeapModelSnapshots, KnowsWhetherAllStacksAreComplete) {
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

TEST(HeapModelSnapshots, GivesTheCountersOfTheDrainBeforeBack) {
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

TEST(HeapModelSnapshots, SnapshotsShareFramesWithTheModelAndKeepThem) {
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
