#include "userspace/tables/heap_model.h"

#include <gtest/gtest.h>

namespace hawk {
namespace {

Frame resolve_nothing(std::uint64_t address) {
  return {.address = address, .module = std::nullopt, .module_offset = 0};
}

Frame resolve_to_module_3(std::uint64_t address) {
  return {.address = address, .module = ModuleId{3}, .module_offset = address - 0x1000};
}

NewStack stack(std::uint32_t id, std::vector<std::uint64_t> addresses, std::uint32_t epoch = 0) {
  return {.id = StackId{id}, .exec_epoch = epoch, .truncated = false, .addresses = std::move(addresses)};
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

TEST(HeapModel, FramesKeepTheModuleTheyHadWhenTheStackWasNew) {
  HeapModel model;
  Drained drained;
  drained.new_stacks = {stack(5, {0x1234})};
  drained.counters = {counters(5, 8, 0)};
  model.update(drained, resolve_to_module_3);
  drained.new_stacks.clear();
  model.update(drained, resolve_nothing);
  const Snapshot snapshot = model.snapshot();
  const Frame& frame = snapshot.stacks.at(0).frames.at(0);
  EXPECT_EQ(frame.module, ModuleId{3});
  EXPECT_EQ(frame.module_offset, 0x234u);
}

TEST(HeapModel, ExecDropsWhatTheOldProgramHeld) {
  HeapModel model;
  Drained drained;
  drained.new_stacks = {stack(5, {0x10})};
  drained.counters = {counters(5, 800, 0), counters(0, 80, 0)};
  drained.new_stacks.push_back(stack(0, {}));
  model.update(drained, resolve_nothing);

  drained.exec_epoch = 1;
  drained.new_stacks = {stack(9, {0x10}, 1)};
  drained.counters = {counters(5, 800, 0), counters(9, 16, 0), counters(0, 96, 0)};
  model.update(drained, resolve_nothing);
  const Snapshot snapshot = model.snapshot();
  EXPECT_EQ(snapshot.totals.allocated_bytes, 32u);  // 16 of stack 9 and the 16 that stack 0 has got since
  EXPECT_EQ(snapshot.peak_live_bytes, 32u);
  EXPECT_EQ(snapshot.stacks.size(), 2u);
}

TEST(HeapModel, StackOfAnOldProgramThatIsDrainedLateIsIgnored) {
  HeapModel model;
  Drained drained;
  drained.exec_epoch = 1;
  drained.new_stacks = {stack(5, {0x10}, 0)};
  drained.counters = {counters(5, 800, 0)};
  model.update(drained, resolve_nothing);
  EXPECT_TRUE(model.snapshot().stacks.empty());
  EXPECT_EQ(model.snapshot().totals, Counters{});
}

}  // namespace
}  // namespace hawk
