#include "userspace/tables/merged_snapshot.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace hawk {
namespace {

/// A process whose libraries lie at `base`.
struct Process {
  Snapshot snapshot;

  Process(int pid, std::uint64_t base) {
    snapshot.target().pid = pid;
    snapshot.trace.start_unix_ns = 1'000'000;
    snapshot.trace.duration_ns = 5'000;
    snapshot.modules = {{"/lib/libc.so.6", "aa"}, {"/bin/p" + std::to_string(base), "bb"}};
    snapshot.locations = {
        {base + 0x10, ModuleId{0}, 0x10}, {base + 0x20, ModuleId{1}, 0x20}, {0x7000, std::nullopt, 0}};
  }
  void add(std::uint32_t id, Counters counters, std::vector<LocationId> frames, hawk_end end = HAWK_END_OUTERMOST) {
    StackRecord stack = {.id = StackId{id}, .counters = counters, .end = end, .frames = {}};
    stack.frames = StackFrames(std::move(frames));
    snapshot.stacks.push_back(std::move(stack));
    snapshot.totals += counters;
  }
};

constexpr LocationId kLibrary{0};
constexpr LocationId kProgram{1};
constexpr LocationId kGenerated{2};

TEST(MergedSnapshot, StacksOfTheSamePlacesAreOne) {
  Process first(10, 0x10000);
  first.add(3, {100, 10, 20, 2}, {kLibrary});
  first.add(7, {5, 1, 0, 0}, {kLibrary, kProgram});
  Process second(20, 0x90000);  // the same library, elsewhere, and another program
  second.add(1, {1000, 4, 0, 0}, {kLibrary});
  second.add(2, {6, 1, 0, 0}, {kLibrary, kProgram});
  second.add(4, {7, 1, 0, 0}, {kLibrary}, HAWK_END_DEPTH);
  const auto merged = merge_snapshots({&first.snapshot, &second.snapshot}, 2000);
  ASSERT_TRUE(merged);
  const Snapshot& all = merged->snapshot;
  ASSERT_EQ(all.stacks.size(), 4U);
  EXPECT_EQ(all.stacks[0].counters, (Counters{1100, 14, 20, 2}));
  EXPECT_EQ(all.stacks[0].id, StackId{1});
  EXPECT_EQ(all.totals, (Counters{1118, 17, 20, 2}));
  EXPECT_EQ(all.modules.size(), 3U);
  EXPECT_EQ(merged->modules,
            (std::vector<std::vector<ModuleId>>{{ModuleId{0}, ModuleId{1}}, {ModuleId{0}, ModuleId{2}}}));
  EXPECT_EQ(all.peak_live_bytes, 2000U);
  ASSERT_EQ(all.targets.size(), 2U);
  EXPECT_EQ(all.targets[1].pid, 20);
  EXPECT_EQ(all.stacks[3].target, TargetId{1});
}

TEST(MergedSnapshot, CodeInNoFileIsToldApartByItsAddress) {
  Process first(10, 0x10000);
  first.add(3, {100, 10, 0, 0}, {kGenerated});
  Process second(20, 0x90000);
  second.snapshot.locations.push_back({0x7008, std::nullopt, 0});
  second.add(3, {1, 1, 0, 0}, {kGenerated});
  second.add(4, {2, 1, 0, 0}, {LocationId{3}});
  const auto merged = merge_snapshots({&first.snapshot, &second.snapshot}, 0);
  ASSERT_EQ(merged->snapshot.stacks.size(), 2U);
  EXPECT_EQ(merged->snapshot.stacks[0].counters.allocated_bytes, 101U);
  EXPECT_EQ(merged->snapshot.peak_live_bytes, 103U) << "no less than what is live";
}

TEST(MergedSnapshot, WhatHasNoStackStaysApart) {
  Process first(10, 0x10000);
  first.add(0, {1, 1, 0, 0}, {});
  first.add(1, {2, 1, 0, 0}, {kLibrary});
  Process second(20, 0x90000);
  second.add(0, {4, 1, 0, 0}, {});
  second.add(1, {8, 1, 0, 0}, {});  // hidden, or cut off at once
  const auto merged = merge_snapshots({&first.snapshot, &second.snapshot}, 0);
  ASSERT_EQ(merged->snapshot.stacks.size(), 3U);
  EXPECT_EQ(merged->snapshot.stacks[0].id, kNoStack);
  EXPECT_EQ(merged->snapshot.stacks[0].counters.allocated_bytes, 5U);
}

TEST(MergedSnapshot, TimesLossesAndPromisesAreThoseOfAll) {
  Process first(10, 0x10000);
  Process second(20, 0x90000);
  second.snapshot.trace.start_unix_ns = 1'003'000;
  second.snapshot.losses[HAWK_LOSS_STACK_TABLE_FULL] = 3;
  second.snapshot.frees_of_untraced = 9;
  second.snapshot.trace.verified = true;
  first.snapshot.trace.target_exited = true;
  first.snapshot.memory = ProcessMemory{10, 5, 1, 2};
  second.snapshot.memory = ProcessMemory{1, 1, 1, 1};
  first.snapshot.usage = TracingUsage{7, 100, 50, 30};
  second.snapshot.usage = TracingUsage{8, 90, 60, {}};
  first.snapshot.children = {.without_exec = 1, .programs = {{"sh", 2}, {"as", 1}}};
  second.snapshot.children = {.without_exec = 1, .programs = {{"as", 5}}};
  second.snapshot.unwind = {{{ModuleId{1}, "no rule", 3}}, {ModuleId{0}, ModuleId{1}}, 17};
  const auto merged = merge_snapshots({&first.snapshot, &second.snapshot}, 0);
  const Snapshot& all = merged->snapshot;
  EXPECT_EQ(all.trace.start_unix_ns, 1'000'000U);
  EXPECT_EQ(all.trace.duration_ns, 8'000U);
  EXPECT_FALSE(all.trace.target_exited) << "one is there";
  EXPECT_EQ(all.trace.verified, std::nullopt) << "one was not";
  EXPECT_EQ(all.losses[HAWK_LOSS_STACK_TABLE_FULL], 3U);
  EXPECT_FALSE(all.exact() && all.stacks_complete());
  EXPECT_EQ(all.frees_of_untraced, 9U);
  EXPECT_EQ(all.memory, (ProcessMemory{11, 6, 2, 3}));
  EXPECT_EQ(all.usage, (TracingUsage{8, 100, 60, 30}));
  EXPECT_EQ(all.children, (UntracedChildren{2, {{"as", 6}, {"sh", 2}}}));
  EXPECT_EQ(all.unwind, (UnwindInfo{{{ModuleId{2}, "no rule", 3}}, {ModuleId{0}, ModuleId{2}}, 17}));
}

/// In a recording that anybody may have made.
TEST(MergedSnapshot, ASumThatIsNoNumberIsNone) {
  Process first(10, 0x10000);
  first.add(3, {~std::uint64_t{0}, 1, 0, 0}, {kLibrary});
  Process second(20, 0x90000);
  second.add(3, {1, 1, 0, 0}, {kProgram});
  EXPECT_FALSE(merge_snapshots({&first.snapshot, &second.snapshot}, 0));
  second.snapshot.stacks.clear();
  second.snapshot.totals = {};
  second.snapshot.trace.start_unix_ns = ~std::uint64_t{0};
  const auto merged = merge_snapshots({&first.snapshot, &second.snapshot}, 0);
  EXPECT_EQ(merged->snapshot.trace.duration_ns, ~std::uint64_t{0} - 1'000'000);
}

}  // namespace
}  // namespace hawk
