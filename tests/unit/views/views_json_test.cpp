// What JSON says of groups and trees, against what its own stacks add up to.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/export/export_sample.h"
#include "tests/unit/report/sample_snapshots.h"
#include "userspace/export/json_report.h"

namespace hawk {
namespace {

using Json = nlohmann::json;

constexpr const char* kCounters[] = {"live_bytes",      "live_count",  "allocated_bytes",
                                     "allocated_count", "freed_bytes", "freed_count"};
constexpr Sample (*kSamples[])() = {service_sample, unsymbolized_sample, lossy_sample,     deep_sample,
                                    hostile_sample, huge_sample,         unwinding_sample, export_sample};

using Numbers = std::array<std::uint64_t, 6>;

void add(Numbers& sum, const Json& counters) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += counters.at(kCounters[i]).get<std::uint64_t>();
}
Numbers numbers_of(const Json& counters) {
  Numbers sum = {};
  add(sum, counters);
  return sum;
}

JsonOptions options_for(const Grouping& grouping, bool with_folded) {
  JsonOptions options;
  options.selection.top = 0;
  options.role_of = sample_role_of;
  options.grouping = grouping;
  options.with_folded = with_folded;
  return options;
}

Json json_of(Sample& sample, const JsonOptions& options) {
  return Json::parse(render_json(sample.snapshot, sample.symbolizer, options));
}

std::string text_of(const Json& text) { return text.is_null() ? "" : text.get<std::string>(); }

/// What a function is called where it has no name.
std::string function_of(const Json& frame) {
  if (!frame.at("function").is_null()) return frame.at("function");
  if (frame.at("module").is_null()) return frame.at("address");
  const std::string module = frame.at("module");
  return module.substr(module.rfind('/') + 1) + "+" + frame.at("module_offset").get<std::string>();
}

std::string name_of(const Json& frame, const std::string& kind) {
  const std::string module = text_of(frame.at("module"));
  const std::string file = text_of(frame.at("file"));
  const std::string in_brackets = module.empty() ? "[in no file]" : "[" + module + "]";
  if (kind == "function" || kind == "caller") return function_of(frame);
  if (kind == "module") return module.empty() ? in_brackets : module;
  if (kind == "file") return file.empty() ? in_brackets : file;
  if (file.empty()) return function_of(frame);
  return frame.at("line").is_null() ? file : file + ":" + std::to_string(frame.at("line").get<std::uint32_t>());
}

struct Sums {
  Numbers self = {};
  Numbers cumulative = {};
  std::uint64_t stacks = 0;
};

/// The groups that a stack passes through, the innermost first.
std::vector<std::string> names_of(const Json& stack, const std::string& kind, bool with_hidden) {
  std::vector<std::string> names;
  for (const Json& frame : stack.at("frames")) {
    if (with_hidden || !frame.at("hidden").get<bool>()) names.push_back(name_of(frame, kind));
  }
  if (names.empty()) return {"[no stack]"};
  if (kind != "caller") return names;
  for (std::size_t i = 0; i < names.size(); ++i) {
    names[i] += " < " + (i + 1 < names.size() ? names[i + 1] : "[no caller]");
  }
  return names;
}

std::map<std::string, Sums> sums_of(const Json& report, const std::string& kind, bool with_hidden) {
  std::map<std::string, Sums> sums;
  for (const Json& stack : report.at("stacks")) {
    const std::vector<std::string> names = names_of(stack, kind, with_hidden);
    const std::string innermost = names.front();
    add(sums[innermost].self, stack);
    for (const std::string& name : std::set<std::string>(names.begin(), names.end())) {
      add(sums[name].cumulative, stack);
      ++sums[name].stacks;
    }
  }
  return sums;
}

/// Names that differ in an unprintable way only, or functions without a name, need not be one group.
void expect_same(const Json& report, const std::map<std::string, Sums>& sums, const std::string& kind) {
  std::map<std::string, Sums> rows;
  for (const Json& row : report.at("groups").at("rows")) {
    const auto [entry, is_new] = rows.try_emplace(row.at("name"));
    EXPECT_TRUE(is_new) << kind << ' ' << row.at("name");
    entry->second = {numbers_of(row.at("self")), numbers_of(row.at("cumulative")), row.at("cumulative").at("stacks")};
  }
  ASSERT_EQ(rows.size(), sums.size()) << kind;
  for (const auto& [name, sum] : sums) {
    ASSERT_TRUE(rows.contains(name)) << kind << ' ' << name;
    EXPECT_EQ(rows[name].self, sum.self) << kind << ' ' << name;
    EXPECT_EQ(rows[name].cumulative, sum.cumulative) << kind << ' ' << name;
    EXPECT_EQ(rows[name].stacks, sum.stacks) << kind << ' ' << name;
  }
}

TEST(ViewsJson, GroupsAreWhatTheStacksAddUpTo) {
  for (Sample (*make)() : kSamples) {
    for (std::size_t kind = 1; !is_of_targets(static_cast<GroupKind>(kind)); ++kind) {
      Sample sample = make();
      const std::string name(kGroupKindNames[kind]);
      const Json report = json_of(sample, options_for({.by = static_cast<GroupKind>(kind)}, true));
      EXPECT_EQ(report.at("groups").at("by"), name);
      EXPECT_EQ(report.at("groups").at("rows_total"), report.at("groups").at("rows").size());
      expect_same(report, sums_of(report, name, true), name);
    }
  }
}

/// The numbers of a process are those that stacks name it with, and those of its own entry.
TEST(ViewsJson, ProcessesAreWhatTheStacksSayOfThem) {
  Sample sample = several_sample();
  const Json report = json_of(sample, options_for({.by = GroupKind::kProcess}, false));
  EXPECT_TRUE(report.at("target").is_null());
  ASSERT_EQ(report.at("targets").size(), 3u);
  ASSERT_EQ(report.at("groups").at("rows").size(), 3u);
  for (std::size_t index = 0; index < 3; ++index) {
    const Json& target = report.at("targets")[index];
    std::uint64_t live = 0;
    std::uint64_t allocated = 0;
    for (const Json& stack : report.at("stacks")) {
      for (const Json& share : stack.at("by_target")) {
        if (share.at("target") != index) continue;
        EXPECT_EQ(share.at("pid"), target.at("pid"));
        live += share.at("live_bytes").get<std::uint64_t>();
        allocated += share.at("allocated_bytes").get<std::uint64_t>();
      }
    }
    EXPECT_EQ(target.at("totals").at("live_bytes"), live);
    EXPECT_EQ(target.at("totals").at("allocated_bytes"), allocated);
    for (const Json& row : report.at("groups").at("rows")) {
      const bool is_it = row.at("pid") == target.at("pid");
      EXPECT_TRUE(!is_it || row.at("self").at("live_bytes") == live);
    }
  }
  EXPECT_FALSE(report.at("exact").get<bool>());
  EXPECT_TRUE(report.at("targets")[0].at("exact").get<bool>());
  EXPECT_FALSE(report.at("targets")[2].at("exact").get<bool>());
  EXPECT_EQ(report.at("targets")[2].at("losses").at("live_table_full"), 12);
}

TEST(ViewsJson, ATreeOfEachProcessHasItsNumbers) {
  for (const GroupKind kind : {GroupKind::kProcess, GroupKind::kExecutable, GroupKind::kCgroup}) {
    for (const TreeDirection direction : {TreeDirection::kTopDown, TreeDirection::kBottomUp}) {
      Sample sample = several_sample();
      const Json tree = json_of(sample, options_for({.by = kind, .tree = direction}, false));
      const Json groups = json_of(sample, options_for({.by = kind}, false)).at("groups").at("rows");
      EXPECT_FALSE(tree.contains("groups"));
      EXPECT_EQ(tree.at("tree").at("by"), group_kind_name(kind));
      std::map<std::string, Json> of_groups, of_roots;
      for (const Json& row : groups) of_groups[row.at("name")] = row.at("self");
      for (const Json& node : tree.at("tree").at("nodes")) {
        if (node.at("parent").is_null()) of_roots[node.at("name")] = node.at("total");
      }
      EXPECT_EQ(of_roots, of_groups);
    }
  }
}

/// Of a recursion JSON hides all calls but the innermost, which makes no difference to functions.
TEST(ViewsJson, WithoutFoldedCallsGroupsAreOfThoseThatAreNotHidden) {
  for (Sample (*make)() : kSamples) {
    Sample sample = make();
    const Json report = json_of(sample, options_for({.by = GroupKind::kFunction}, false));
    expect_same(report, sums_of(report, "function", false), "function");
  }
}

/// By the path to each node, from the root.
std::map<std::vector<std::string>, Sums> paths_of(const Json& report, bool top_down, bool with_hidden) {
  std::map<std::vector<std::string>, Sums> sums;
  for (const Json& stack : report.at("stacks")) {
    std::vector<std::string> names = names_of(stack, "function", with_hidden);
    if (stack.at("truncated").get<bool>() && names.front() != "[no stack]") names.emplace_back("[truncated stack]");
    if (top_down) std::reverse(names.begin(), names.end());
    for (std::size_t length = 1; length <= names.size(); ++length) {
      add(sums[{names.begin(), names.begin() + static_cast<std::ptrdiff_t>(length)}].cumulative, stack);
    }
    add(sums[names].self, stack);
  }
  return sums;
}

TEST(ViewsJson, TreesAreWhatTheStacksAddUpTo) {
  for (Sample (*make)() : kSamples) {
    for (const TreeDirection direction : {TreeDirection::kTopDown, TreeDirection::kBottomUp}) {
      for (const bool with_hidden : {true, false}) {
        Sample sample = make();
        const Json report = json_of(sample, options_for({.tree = direction}, with_hidden));
        auto expected = paths_of(report, direction == TreeDirection::kTopDown, with_hidden);
        EXPECT_EQ(report.at("tree").at("direction"), std::string(tree_direction_name(direction)));
        std::vector<std::vector<std::string>> paths;
        for (const Json& node : report.at("tree").at("nodes")) {
          std::vector<std::string> path;
          if (!node.at("parent").is_null()) path = paths.at(node.at("parent").get<std::size_t>());
          EXPECT_EQ(node.at("depth"), path.size());
          path.push_back(node.at("name"));
          paths.push_back(path);
          ASSERT_TRUE(expected.contains(path)) << testing::PrintToString(path);
          EXPECT_EQ(numbers_of(node.at("total")), expected[path].cumulative) << testing::PrintToString(path);
          EXPECT_EQ(numbers_of(node.at("self")), expected[path].self) << testing::PrintToString(path);
          expected.erase(path);
        }
        EXPECT_TRUE(expected.empty());
      }
    }
  }
}

TEST(ViewsJson, WhatIsNotShownIsCounted) {
  Sample sample = service_sample();
  JsonOptions options = options_for({}, false);
  EXPECT_FALSE(json_of(sample, options).contains("view"));
  options.filter.focus = CallPattern("dispatch");
  options.filter.suppressions = std::make_shared<const Suppressions>(
      Suppressions{.path = "x.supp", .rules = {SuppressionTemplate("Session*open"), SuppressionTemplate("unused")}});
  const Json report = json_of(sample, options);
  const Json& view = report.at("view");
  EXPECT_EQ(view.at("focus"), "dispatch");
  EXPECT_EQ(view.at("hide"), nullptr);
  EXPECT_EQ(view.at("suppressions"), "x.supp");
  Numbers sum = {};
  for (const char* key : {"shown", "left_out", "suppressed"}) add(sum, view.at(key));
  EXPECT_EQ(sum, numbers_of(report.at("totals"))) << "totals are those of the process";
  Numbers shown = {};
  for (const Json& stack : report.at("stacks")) add(shown, stack);
  EXPECT_EQ(shown, numbers_of(view.at("shown")));
  EXPECT_EQ(view.at("rules").at(0).at("template"), "Session*open");
  EXPECT_EQ(numbers_of(view.at("rules").at(0)), numbers_of(view.at("suppressed")));
  EXPECT_EQ(view.at("rules").at(0).at("stacks"), 1);
  EXPECT_EQ(view.at("rules").at(1).at("stacks"), 0);
  EXPECT_EQ(report.at("stacks").size(), 1U);
  EXPECT_EQ(report.at("stacks")[0].at("id"), 12);
}

TEST(ViewsJson, OneLineIsTheSameDocument) {
  Sample sample = export_sample();
  JsonOptions options = options_for({.by = GroupKind::kLine}, true);
  options.filter.ignore = CallPattern("nothing like it");
  const Json lines = json_of(sample, options);
  options.one_line = true;
  const std::string text = render_json(sample.snapshot, sample.symbolizer, options);
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  EXPECT_EQ(Json::parse(text), lines);
}

TEST(ViewsJson, HiddenCallsAreInNoStack) {
  Sample sample = service_sample();
  JsonOptions options = options_for({}, false);
  const Json all = json_of(sample, options);
  options.filter.hide = CallPattern("shop::Server::dispatch");
  const Json some = json_of(sample, options);
  std::map<int, std::pair<std::size_t, std::string>> before;
  for (const Json& stack : all.at("stacks")) {
    before[stack.at("id")] = {stack.at("frames").size(), stack.at("fingerprint")};
  }
  for (const Json& stack : some.at("stacks")) {
    const bool passes = stack.at("id") == 7 || stack.at("id") == 12;
    EXPECT_EQ(stack.at("frames").size(), before[stack.at("id")].first - (passes ? 1 : 0));
    EXPECT_EQ(stack.at("fingerprint"), before[stack.at("id")].second) << "that of the stack, not of what is shown";
    for (const Json& frame : stack.at("frames")) {
      EXPECT_EQ(text_of(frame.at("function")).find("dispatch"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace hawk
