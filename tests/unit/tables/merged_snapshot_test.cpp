#include "userspace/tables/merged_snapshot.h"

#include <gtest/gtest.h>

#include <ctime>
#include <optional>
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

/// Merged once.
struct Merged {
  std::optional<Snapshot> snapshot;
  std::vector<std::vector<ModuleId>> modules;
};
Merged merge(const std::vector<const Snapshot*>& parts, std::uint64_t peak_live_bytes) {
  SnapshotMerger merger;
  std::optional<Snapshot> snapshot = merger.merge(parts, peak_live_bytes);
  return {std::move(snapshot), merger.modules()};
}

constexpr LocationId kLibrary{0};
constexpr LocationId kProgram{1};
constexpr LocationId kGenerated{2};

TEST(MergedSnapshot, AgesAreThoseOfAllProcesses) {
  Process first(10, 0x10000);
  Process second(20, 0x20000);
  first.add(4, {100, 2, 0, 0}, {kGenerated});
  first.add(7, {50, 1, 0, 0}, {kLibrary});
  second.add(3, {60, 2, 0, 0}, {kLibrary});
  first.snapshot.ages = LiveAges{.now_ms = 90,
                                 .blocks = {{.stack = StackId{4}, .born_ms = 5, .bytes = 100, .count = 2},
                                            {.stack = StackId{7}, .born_ms = 6, .bytes = 50, .count = 1}},
                                 .marks_ms = {6}};
  second.snapshot.ages = LiveAges{.now_ms = 95,
                                  .blocks = {{.stack = StackId{3}, .born_ms = 1, .bytes = 20, .count = 1},
                                             {.stack = StackId{3}, .born_ms = 7, .bytes = 40, .count = 1}},
                                  .marks_ms = {6, 8}};
  const auto merged = merge({&first.snapshot, &second.snapshot}, 0).snapshot;
  ASSERT_TRUE(merged && merged->ages);
  EXPECT_EQ(merged->ages->now_ms, 95u);
  EXPECT_EQ(merged->ages->marks_ms, (std::vector<std::uint64_t>{6, 8}));
  const TargetId one{0};
  const TargetId other{1};
  EXPECT_EQ(merged->ages->blocks,
            (std::vector<AgedBlocks>{{.stack = StackId{1}, .target = one, .born_ms = 5, .bytes = 100, .count = 2},
                                     {.stack = StackId{2}, .target = one, .born_ms = 6, .bytes = 50, .count = 1},
                                     {.stack = StackId{2}, .target = other, .born_ms = 1, .bytes = 20, .count = 1},
                                     {.stack = StackId{2}, .target = other, .born_ms = 7, .bytes = 40, .count = 1}}));
}

TEST(MergedSnapshot, StacksOfTheSamePlacesAreOne) {
  Process first(10, 0x10000);
  first.add(3, {100, 10, 20, 2}, {kLibrary});
  first.add(7, {5, 1, 0, 0}, {kLibrary, kProgram});
  Process second(20, 0x90000);  // the same library, elsewhere, and another program
  second.add(1, {1000, 4, 0, 0}, {kLibrary});
  second.add(2, {6, 1, 0, 0}, {kLibrary, kProgram});
  second.add(4, {7, 1, 0, 0}, {kLibrary}, HAWK_END_DEPTH);
  const Merged merged = merge({&first.snapshot, &second.snapshot}, 2000);
  ASSERT_TRUE(merged.snapshot);
  const Snapshot& all = *merged.snapshot;
  ASSERT_EQ(all.stacks.size(), 4U);
  EXPECT_EQ(all.stacks[0].counters, (Counters{1100, 14, 20, 2}));
  EXPECT_EQ(all.stacks[0].id, StackId{1});
  EXPECT_EQ(all.totals, (Counters{1118, 17, 20, 2}));
  EXPECT_EQ(all.modules.size(), 3U);
  EXPECT_EQ(merged.modules,
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
  const Merged merged = merge({&first.snapshot, &second.snapshot}, 0);
  ASSERT_EQ(merged.snapshot->stacks.size(), 2U);
  EXPECT_EQ(merged.snapshot->stacks[0].counters.allocated_bytes, 101U);
  EXPECT_EQ(merged.snapshot->peak_live_bytes, 103U) << "no less than what is live";
}

TEST(MergedSnapshot, WhatHasNoStackStaysApart) {
  Process first(10, 0x10000);
  first.add(0, {1, 1, 0, 0}, {});
  first.add(1, {2, 1, 0, 0}, {kLibrary});
  Process second(20, 0x90000);
  second.add(0, {4, 1, 0, 0}, {});
  second.add(1, {8, 1, 0, 0}, {});  // hidden, or cut off at once
  const Merged merged = merge({&first.snapshot, &second.snapshot}, 0);
  ASSERT_EQ(merged.snapshot->stacks.size(), 3U);
  EXPECT_EQ(merged.snapshot->stacks[0].id, kNoStack);
  EXPECT_EQ(merged.snapshot->stacks[0].counters.allocated_bytes, 5U);
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
  const Merged merged = merge({&first.snapshot, &second.snapshot}, 0);
  const Snapshot& all = *merged.snapshot;
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

TEST(MergedSnapshot, WhatIsOfEachProcessIsKept) {
  Process first(10, 0x10000);
  first.add(0, {1, 1, 0, 0}, {});
  first.add(3, {100, 10, 20, 2}, {kLibrary});
  first.add(7, {5, 1, 0, 0}, {kLibrary, kProgram});
  Process second(20, 0x90000);
  second.snapshot.locations.push_back({0x555010, ModuleId{0}, 0x10});  // the library, where it was before
  second.add(1, {1000, 4, 0, 0}, {kLibrary});
  second.add(4, {7, 1, 7, 1}, {LocationId{3}});
  second.snapshot.losses[HAWK_LOSS_LIVE_TABLE_FULL] = 4;
  second.snapshot.trace.target_exited = true;
  const Merged merged = merge({&first.snapshot, &second.snapshot}, 0);
  const Snapshot& all = *merged.snapshot;
  ASSERT_EQ(all.stacks.size(), 3U);
  EXPECT_EQ(all.shares, (std::vector<StackShare>{{kNoStack, TargetId{0}, {1, 1, 0, 0}},
                                                 {StackId{1}, TargetId{0}, {100, 10, 20, 2}},
                                                 {StackId{1}, TargetId{1}, {1007, 5, 7, 1}},
                                                 {StackId{2}, TargetId{0}, {5, 1, 0, 0}}}));
  EXPECT_EQ(all.shares_of(StackId{1}).size(), 2U);
  EXPECT_EQ(all.shares_of(StackId{3}).size(), 0U);
  ASSERT_EQ(all.parts.size(), 2U);
  EXPECT_EQ(all.parts[1].totals, second.snapshot.totals);
  EXPECT_TRUE(all.parts[0].exact());
  EXPECT_FALSE(all.parts[1].exact());
  EXPECT_TRUE(all.parts[1].target_exited);
  EXPECT_FALSE(all.parts[0].stacks_complete) << "one is missing";
  EXPECT_TRUE(all.parts[1].stacks_complete);
  const Merged alone = merge({&first.snapshot}, 0);
  EXPECT_TRUE(alone.snapshot->parts.empty() && alone.snapshot->shares.empty()) << "all is its own";
}

/// What changes are counted from, and what a cursor stands on.
TEST(MergedSnapshot, NumbersStay) {
  Process first(10, 0x10000);
  Process second(20, 0x90000);
  first.add(1, {1, 1, 0, 0}, {kLibrary});
  second.add(1, {10, 1, 0, 0}, {kLibrary, kProgram});
  SnapshotMerger merger;
  const std::optional<Snapshot> before = merger.merge({&first.snapshot, &second.snapshot}, 0);
  first.add(2, {5, 1, 0, 0}, {kProgram});
  second.snapshot.stacks.clear();  // another program
  second.snapshot.totals = {};
  Process third(30, 0x90000);
  third.add(1, {2, 1, 0, 0}, {kLibrary});
  const std::optional<Snapshot> after = merger.merge({&first.snapshot, &second.snapshot, &third.snapshot}, 0);
  ASSERT_EQ(after->stacks.size(), 2U);
  EXPECT_EQ(after->stacks[0].id, before->stacks[0].id);
  EXPECT_EQ(after->stacks[0].frames, before->stacks[0].frames);
  EXPECT_EQ(after->stacks[0].counters, (Counters{3, 2, 0, 0}));
  EXPECT_EQ(after->stacks[1].id, StackId{3}) << "2 is the one that is gone";
  EXPECT_EQ(after->totals, (Counters{8, 3, 0, 0}));
}

TEST(MergedSnapshot, FilesWithoutBuildIdAreOneWithinACgroup) {
  Process first(10, 0x10000);
  Process second(20, 0x90000);
  Process third(30, 0x50000);
  for (Process* process : {&first, &second, &third}) {
    process->snapshot.modules = {{"/app/server", ""}, {"/lib/libc.so.6", "aa"}};
    process->snapshot.target().cgroup = process == &third ? "/b" : "/a";
    process->add(1, {1, 1, 0, 0}, {kLibrary});
  }
  const Merged merged = merge({&first.snapshot, &second.snapshot, &third.snapshot}, 0);
  EXPECT_EQ(merged.snapshot->stacks.size(), 2U);
  EXPECT_EQ(merged.snapshot->modules.size(), 3U);
}

/// As when a build is traced: processes of a few programs, which have much in common.
TEST(MergedSnapshot, AThousandProcessesTakeNotLong) {
#if defined(__SANITIZE_ADDRESS__)
  constexpr std::size_t kProcesses = 50;
#else
  constexpr std::size_t kProcesses = 1000;
#endif
  constexpr std::uint32_t kStacks = 100;
  constexpr std::uint32_t kLocations = 300;
  constexpr std::uint32_t kFrames = 20;
  std::vector<Snapshot> processes;
  for (std::size_t number = 0; number < kProcesses; ++number) {
    Process process(static_cast<int>(1000 + number), 0x10000 * (number % 4));
    process.snapshot.locations = {};
    for (std::uint32_t place = 0; place < kLocations; ++place) {
      process.snapshot.locations.push_back({0x7f0000 + place * 8, ModuleId{place % 2}, 0x100 + place * 8});
    }
    for (std::uint32_t id = 1; id <= kStacks; ++id) {
      std::vector<LocationId> frames;
      for (std::uint32_t frame = 0; frame < kFrames; ++frame)
        frames.push_back(LocationId{(id * 7 + frame * frame) % kLocations});
      process.add(id, {100, 1, 0, 0}, frames);
    }
    processes.push_back(std::move(process.snapshot));
  }
  std::vector<const Snapshot*> parts;
  parts.reserve(processes.size());
  for (const Snapshot& process : processes) parts.push_back(&process);
  SnapshotMerger merger;
  for (const char* merge : {"first", "again"}) {
    const std::clock_t before = std::clock();
    const std::optional<Snapshot> all = merger.merge(parts, 0);
    const double seconds = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
    EXPECT_EQ(all->totals.allocated_bytes, kProcesses * kStacks * 100);
    EXPECT_EQ(all->shares.size(), kProcesses * kStacks);
    EXPECT_EQ(all->stacks.size(), 4 * kStacks);
    RecordProperty(std::string("seconds_") + merge, std::to_string(seconds));
    EXPECT_LT(seconds, 1) << merge;
  }
}

/// In a recording, which may be forged.
TEST(MergedSnapshot, ASumThatIsNoNumberIsNone) {
  Process first(10, 0x10000);
  first.add(3, {~std::uint64_t{0}, 1, 0, 0}, {kLibrary});
  Process second(20, 0x90000);
  second.add(3, {1, 1, 0, 0}, {kProgram});
  EXPECT_FALSE(merge({&first.snapshot, &second.snapshot}, 0).snapshot);
  second.snapshot.stacks.clear();
  second.snapshot.totals = {};
  second.snapshot.trace.start_unix_ns = ~std::uint64_t{0};
  const Merged merged = merge({&first.snapshot, &second.snapshot}, 0);
  EXPECT_EQ(merged.snapshot->trace.duration_ns, ~std::uint64_t{0} - 1'000'000);
}

}  // namespace
}  // namespace hawk
