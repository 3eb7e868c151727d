#include "userspace/views/call_groups.h"

#include <gtest/gtest.h>

#include <ctime>
#include <map>
#include <string>

#include "tests/unit/export/export_sample.h"
#include "tests/unit/report/sample_snapshots.h"
#include "userspace/views/call_paths.h"

namespace hawk {
namespace {

struct Sums {
  std::uint64_t self;
  std::uint64_t cumulative;
  bool operator==(const Sums&) const = default;
};
void PrintTo(const Sums& sums, std::ostream* out) { *out << sums.self << " of " << sums.cumulative; }

/// Live bytes by name.
std::map<std::string, Sums> groups_of(Sample& sample, GroupKind kind, bool with_folded = false) {
  const StackView view = make_stack_view(sample.snapshot, sample.symbolizer, {}, {});
  const CallTable calls(sample.snapshot, view.stacks, sample.symbolizer, sample_role_of);
  std::map<std::string, Sums> sums;
  for (const CallGroup& group : group_calls(view, calls, sample.snapshot, kind, with_folded)) {
    const Sums added = {group.self.counters.live_bytes(), group.cumulative.counters.live_bytes()};
    EXPECT_TRUE(sums.emplace(group_name(group, kind, sample.snapshot, true), added).second);
  }
  return sums;
}

/// walk calls itself twice and, at the other line, the function that allocates.
Sample recursive_sample() {
  Sample sample = empty_sample();
  const ModuleId exe = sample.add_module("/bin/tree", "");
  const Location leaf = sample.call(exe, {function("leaf()", "/src/tree.cpp", 5)});
  const Location inner = sample.call(exe, {function("walk(Node*)", "/src/tree.cpp", 10)});
  const Location again = sample.call(exe, {function("walk(Node*)", "/src/tree.cpp", 12)});
  const Location main = sample.call(exe, {inlined("run()", "/src/run.h", 3), function("main", "/src/main.cpp", 8)});
  const Location operator_new = sample.call(exe, {function("operator new(unsigned long)")});
  sample.add_stack(1, {100, 1, 0, 0}, {leaf, inner, again, again, main});
  sample.add_stack(2, {1000, 1, 0, 0}, {operator_new, inner, main});
  sample.add_stack(3, {10000, 1, 0, 0}, {sample.call(exe, {})});
  return sample;
}

TEST(CallGroups, ARecursiveFunctionCountsOnceForEachStack) {
  Sample sample = recursive_sample();
  const std::map<std::string, Sums> expected = {{"leaf", {100, 100}},
                                                {"walk", {1000, 1100}},
                                                {"run", {0, 1100}},
                                                {"main", {0, 1100}},
                                                {"tree+0x1250", {10000, 10000}}};
  EXPECT_EQ(groups_of(sample, GroupKind::kFunction), expected);
}

// Those of one name are one; one without a name has its number.
TEST(CallGroups, ByThread) {
  Sample sample = recursive_sample();
  const auto share = [](std::uint32_t stack, int tid, Counters counters) {
    return ThreadShare{.stack = StackId{stack}, .target = {}, .tid = tid, .counters = counters, .freed_by_others = 0};
  };
  sample.snapshot.threads =
      ThreadShares{.shares = {share(1, 7, {60, 1, 0, 0}), share(1, 8, {40, 0, 0, 0}), share(2, 8, {900, 1, 0, 0}),
                              share(2, 9, {100, 0, 0, 0}), share(3, 0, {10000, 1, 0, 0})},
                   .names = {{.target = {}, .tid = 7, .name = "pool"}, {.target = {}, .tid = 8, .name = "pool"}}};
  EXPECT_EQ(groups_of(sample, GroupKind::kThread),
            (std::map<std::string, Sums>{
                {"pool", {1000, 1000}}, {"[thread 9]", {100, 100}}, {"[thread not known]", {10000, 10000}}}));
  sample.snapshot.threads.reset();
  EXPECT_TRUE(groups_of(sample, GroupKind::kThread).empty());
}

TEST(CallGroups, FoldedCallsCountWhereNothingIsFolded) {
  Sample sample = recursive_sample();
  const std::map<std::string, Sums> groups = groups_of(sample, GroupKind::kFunction, true);
  EXPECT_EQ(groups.at("operator new"), (Sums{1000, 1000}));
  EXPECT_EQ(groups.at("walk"), (Sums{0, 1100}));
}

TEST(CallGroups, ByFileLineModuleAndCaller) {
  Sample sample = recursive_sample();
  EXPECT_EQ(groups_of(sample, GroupKind::kFile), (std::map<std::string, Sums>{{"src/tree.cpp", {1100, 1100}},
                                                                              {"src/run.h", {0, 1100}},
                                                                              {"src/main.cpp", {0, 1100}},
                                                                              {"[/bin/tree]", {10000, 10000}}}));
  EXPECT_EQ(groups_of(sample, GroupKind::kLine), (std::map<std::string, Sums>{{"src/tree.cpp:5", {100, 100}},
                                                                              {"src/tree.cpp:10", {1000, 1100}},
                                                                              {"src/tree.cpp:12", {0, 100}},
                                                                              {"src/run.h:3", {0, 1100}},
                                                                              {"src/main.cpp:8", {0, 1100}},
                                                                              {"tree+0x1250", {10000, 10000}}}));
  EXPECT_EQ(groups_of(sample, GroupKind::kModule), (std::map<std::string, Sums>{{"/bin/tree", {11100, 11100}}}));
  EXPECT_EQ(groups_of(sample, GroupKind::kCaller),
            (std::map<std::string, Sums>{{"leaf < walk", {100, 100}},
                                         {"walk < walk", {0, 100}},
                                         {"walk < run", {1000, 1100}},
                                         {"run < main", {0, 1100}},
                                         {"main < [no caller]", {0, 1100}},
                                         {"tree+0x1250 < [no caller]", {10000, 10000}}}));
}

/// The same, told apart by threads: of each stack, each process's share is of two threads.
Sample with_threads(Sample sample) {
  ThreadShares& threads = sample.snapshot.threads.emplace();
  const auto add = [&](StackId stack, TargetId target, Counters counters) {
    const Counters first = {counters.allocated_bytes / 2, counters.allocated_count / 2, counters.freed_bytes / 3,
                            counters.freed_count / 3};
    counters -= first;
    threads.shares.push_back({.stack = stack, .target = target, .tid = 1, .counters = first});
    threads.shares.push_back({.stack = stack, .target = target, .tid = 2, .counters = counters});
  };
  for (const StackRecord& stack : sample.snapshot.stacks) {
    if (sample.snapshot.parts.empty()) add(stack.id, TargetId{}, stack.counters);
    for (const StackShare& share : sample.snapshot.shares_of(stack.id)) add(stack.id, share.target, share.counters);
  }
  threads.names = {{.target = {}, .tid = 1, .name = "one"}, {.target = {}, .tid = 2, .name = "two"}};
  return sample;
}

TEST(CallGroups, OwnNumbersAddUpToWhatIsShown) {
  for (Sample (*make)() : {empty_sample, service_sample, unsymbolized_sample, lossy_sample, deep_sample, hostile_sample,
                           huge_sample, unwinding_sample, several_sample, export_sample}) {
    Sample sample = with_threads(make());
    const StackView view = make_stack_view(sample.snapshot, sample.symbolizer, {}, {});
    const CallTable calls(sample.snapshot, view.stacks, sample.symbolizer, sample_role_of);
    for (std::size_t kind = 1; kind < kGroupKindNames.size(); ++kind) {
      for (const bool with_folded : {false, true}) {
        Counters sum;
        for (const CallGroup& group :
             group_calls(view, calls, sample.snapshot, static_cast<GroupKind>(kind), with_folded)) {
          sum += group.self.counters;
        }
        EXPECT_EQ(sum, sample.snapshot.totals) << kGroupKindNames[kind];
      }
    }
  }
}

TEST(CallGroups, AreOrderedCutAndLeftOut) {
  Sample sample = recursive_sample();
  const StackView view = make_stack_view(sample.snapshot, sample.symbolizer, {}, {});
  const CallTable calls(sample.snapshot, view.stacks, sample.symbolizer, sample_role_of);
  const auto names = [&](const Selection& selection, bool cumulative_first) {
    std::vector<CallGroup> groups = group_calls(view, calls, sample.snapshot, GroupKind::kFunction, false);
    select_groups(groups, selection, cumulative_first);
    std::vector<std::string> found;
    for (const CallGroup& group : groups) {
      found.push_back(group_name(group, GroupKind::kFunction, sample.snapshot, true));
    }
    return found;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names({.top = 3}, false), (Names{"tree+0x1250", "walk", "leaf"}));
  EXPECT_EQ(names({.top = 2}, true), (Names{"tree+0x1250", "walk"})) << "of equal ones the one with more of its own";
  EXPECT_EQ(names({.top = 0, .min_size_bytes = 1000}, false), (Names{"tree+0x1250", "walk"}));
  EXPECT_EQ(names({.top = 0, .min_size_bytes = 1000}, true).size(), 4U);
}

/// On a machine under load too: CPU time of this thread.
double seconds() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Sanitizers make it twenty times as slow.
#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t kManyStacks = 10'000;
constexpr double kNotLongSeconds = 4;
#else
constexpr std::size_t kManyStacks = 100'000;
constexpr double kNotLongSeconds = 3;
#endif

TEST(CallGroups, ManyStacksTakeNotLong) {
  Sample sample = with_threads(large_sample(kManyStacks));
  const StackView view = make_stack_view(sample.snapshot, sample.symbolizer, {}, {});
  const CallTable calls(sample.snapshot, view.stacks, sample.symbolizer, sample_role_of);
  for (std::size_t kind = 1; kind < kGroupKindNames.size(); ++kind) {
    const double before = seconds();
    EXPECT_FALSE(group_calls(view, calls, sample.snapshot, static_cast<GroupKind>(kind), false).empty());
    RecordProperty("by_" + std::string(kGroupKindNames[kind]), std::to_string(seconds() - before));
    EXPECT_LT(seconds() - before, kNotLongSeconds);
  }
  for (const TreeDirection direction : {TreeDirection::kTopDown, TreeDirection::kBottomUp}) {
    const double before = seconds();
    CallPaths paths(sample.snapshot, view, calls, {.tree = direction}, false);
    std::size_t nodes = 0;
    Counters own;
    for (std::vector<CallPaths::Node> pending = {paths.root()}; !pending.empty();) {
      const CallPaths::Node node = pending.back();
      pending.pop_back();
      own += node.own;
      ++nodes;
      for (const CallPaths::Node& below : paths.below(node, SortKey::kLive)) pending.push_back(below);
    }
    EXPECT_GT(nodes, 1000U);
    EXPECT_EQ(own, sample.snapshot.totals);
    RecordProperty(std::string(tree_direction_name(direction)), std::to_string(seconds() - before));
    EXPECT_LT(seconds() - before, kNotLongSeconds);
  }
}

}  // namespace
}  // namespace hawk
