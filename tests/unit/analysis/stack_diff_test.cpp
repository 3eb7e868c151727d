#include "userspace/analysis/stack_diff.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>

#include "tests/unit/report/sample_snapshots.h"
#include "userspace/analysis/diff_flame_graph.h"
#include "userspace/analysis/diff_text.h"

namespace hawk {
namespace {

/// A service whose libraries lie at `base`: what the kernel chooses, and a build, differs.
struct Service {
  Sample sample;
  ModuleId module;

  explicit Service(std::uint64_t base) : module(sample.add_module("/opt/v" + std::to_string(base) + "/server", "")) {
    base_ = base;
  }
  Location call(const std::string& name, std::uint64_t offset) {
    const Location location = {base_ + offset, module, offset};
    sample.symbolizer.know(module, offset, {function(name, "server.cpp", static_cast<std::uint32_t>(offset))});
    return location;
  }
  ExportedStacks stacks(const FrameFilter& filter = {}) {
    return ExportedStacks(
        {.snapshot = sample.snapshot, .symbolizer = sample.symbolizer, .selection = {.top = 0}, .filter = filter},
        ExportedStacks::Names::kShort);
  }

 private:
  std::uint64_t base_ = 0;
};

SnapshotDiff diff_by(Service& before, Service& after, Selection selection, const FrameFilter& filter = {}) {
  const ExportedStacks a = before.stacks(filter);
  const ExportedStacks b = after.stacks(filter);
  return diff_of(a, b, selection, filter);
}

struct TwoRuns {
  Service before{0x10000};
  Service after{0x7f0000};

  TwoRuns() {
    before.sample.add_stack(1, {100, 10, 20, 2}, {before.call("grow", 0x10), before.call("main", 0x90)});
    before.sample.add_stack(2, {50, 5, 0, 0}, {before.call("same", 0x20), before.call("main", 0x94)});
    before.sample.add_stack(3, {70, 7, 0, 0}, {before.call("gone", 0x30), before.call("main", 0x98)});
    after.sample.add_stack(8, {50, 5, 0, 0}, {after.call("same", 0x120), after.call("main", 0x194)});
    // The same calls at two places of a later build.
    after.sample.add_stack(9, {100, 10, 0, 0}, {after.call("grow", 0x110), after.call("main", 0x190)});
    after.sample.add_stack(10, {900, 30, 20, 2}, {after.call("grow", 0x118), after.call("main", 0x190)});
    after.sample.add_stack(11, {5, 1, 0, 0}, {after.call("added", 0x140), after.call("main", 0x19c)});
  }
};

TEST(StackDiff, GoesByNamesNotByAddresses) {
  TwoRuns runs;
  const SnapshotDiff diff = diff_by(runs.before, runs.after, {.top = 0});
  ASSERT_EQ(diff.changes.size(), 3U) << "what has not changed is left out";
  EXPECT_EQ(diff.changed, 3U);
  EXPECT_EQ(diff.changes[0].calls.front().function, "grow");
  EXPECT_EQ(diff.changes[0].calls.front().module, "server");
  EXPECT_EQ(diff.changes[0].before, (Counters{100, 10, 20, 2}));
  EXPECT_EQ(diff.changes[0].after, (Counters{1000, 40, 20, 2}));
  EXPECT_EQ(diff.changes[1].calls.front().function, "gone");
  EXPECT_EQ(diff.changes[1].after, Counters{});
  EXPECT_EQ(diff.changes[2].calls.front().function, "added");
  EXPECT_EQ(diff.changes[2].before, Counters{});
}

TEST(StackDiff, ShowsWhatIsAskedFor) {
  TwoRuns runs;
  EXPECT_EQ(diff_by(runs.before, runs.after, {.top = 1}).changes.size(), 1U);
  EXPECT_EQ(diff_by(runs.before, runs.after, {.top = 1}).changed, 3U);
  EXPECT_EQ(diff_by(runs.before, runs.after, {.top = 0, .min_size_bytes = 70}).changes.size(), 2U);
  EXPECT_EQ(diff_by(runs.before, runs.after, {.sort = SortKey::kFreedCount, .top = 0}).changes.size(), 0U);
  EXPECT_TRUE(diff_by(runs.before, runs.before, {.top = 0}).changes.empty());
}

TEST(StackDiff, IsSaidToPeople) {
  TwoRuns runs;
  const std::string text = render_diff_text(diff_by(runs.before, runs.after, {.top = 2}), {});
  EXPECT_NE(text.find("\n3 stacks have changed; shown: 2, by the change of live\n"), std::string::npos) << text;
  EXPECT_NE(text.find("#1    +900 B live: from 80 B in 8 blocks to 980 B in 38 blocks\n      grow  server\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("#2    -70 B live: from 70 B in 7 blocks to 0 B in 0 blocks\n      gone  server\n"),
            std::string::npos)
      << text;
}

TEST(StackDiff, IsSaidToPrograms) {
  TwoRuns runs;
  const nlohmann::json json = nlohmann::json::parse(render_diff_json(diff_by(runs.before, runs.after, {.top = 0})));
  EXPECT_EQ(json.at("schema"), "hawktrace.diff/1");
  EXPECT_EQ(json.at("change").at("live_bytes"), 1035 - 200);
  EXPECT_EQ(json.at("stacks").size(), 3U);
  EXPECT_EQ(json.at("stacks").at(1).at("change").at("live_bytes"), -70);
  EXPECT_EQ(json.at("stacks").at(1).at("frames").at(0).at("function"), "gone");
}

TEST(StackDiff, SaysWhatItIsNarrowedDownBy) {
  TwoRuns runs;
  FrameFilter filter;
  filter.focus.emplace("grow");
  const Suppressions suppressions = {.path = "known.supp", .rules = {}};
  filter.suppressions = std::make_shared<Suppressions>(suppressions);
  const SnapshotDiff diff = diff_by(runs.before, runs.after, {.top = 0}, filter);
  const std::string text = render_diff_text(diff, {});
  EXPECT_NE(text.find("change: +835 B live\nfiltered by --focus 'grow', --suppressions 'known.supp': compares 80 "
                      "B in 8 blocks before with 980 B in 38 blocks after\n\n1 stack has changed; shown: 1, "),
            std::string::npos)
      << text;
  const nlohmann::json json = nlohmann::json::parse(render_diff_json(diff));
  EXPECT_EQ(json.at("view").at("focus"), "grow");
  EXPECT_TRUE(json.at("view").at("hide").is_null());
  EXPECT_EQ(json.at("view").at("suppressions"), "known.supp");
  EXPECT_EQ(json.at("view").at("before").at("live_bytes"), 80);
  EXPECT_EQ(json.at("view").at("after").at("live_bytes"), 980);
  EXPECT_EQ(json.at("change").at("live_bytes"), 835) << "of the processes";
  EXPECT_FALSE(nlohmann::json::parse(render_diff_json(diff_by(runs.before, runs.after, {}))).contains("view"));
  const ExportedStacks a = runs.before.stacks(filter);
  const ExportedStacks b = runs.after.stacks(filter);
  EXPECT_NE(diff_flame_graph(a, b, SortKey::kLive, filter).title.find("; filtered by --focus 'grow', "),
            std::string::npos);
}

TEST(StackDiff, HostileNamesCommandNothing) {
  Sample hostile = hostile_sample();
  Sample empty = empty_sample();
  const ReportRequest before = {.snapshot = empty.snapshot, .symbolizer = empty.symbolizer, .selection = {.top = 0}};
  const ReportRequest after = {.snapshot = hostile.snapshot, .symbolizer = hostile.symbolizer, .selection = {.top = 0}};
  const ExportedStacks a(before, ExportedStacks::Names::kShort);
  const ExportedStacks b(after, ExportedStacks::Names::kShort);
  const SnapshotDiff diff = diff_of(a, b, {.top = 0});
  for (const std::string& text : {render_diff_text(diff, {}), render_diff_json(diff)}) {
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    EXPECT_EQ(text.find('\0'), std::string::npos);
  }
  EXPECT_TRUE(nlohmann::json::accept(render_diff_json(diff)));
}

}  // namespace
}  // namespace hawk
