#include "userspace/views/stack_view.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

#include "tests/unit/export/export_sample.h"
#include "tests/unit/report/sample_snapshots.h"

namespace hawk {
namespace {

/// The sample's stacks: 7 a leak and 12 churn, both of Server::dispatch; 3 of Cache; 1 of read_configuration.
std::set<std::uint32_t> ids_of(const StackView& view) {
  std::set<std::uint32_t> ids;
  for (const StackRecord* stack : view.stacks) ids.insert(static_cast<std::uint32_t>(stack->id));
  return ids;
}
using Ids = std::set<std::uint32_t>;

StackView view_of(Sample& sample, const FrameFilter& filter) {
  return make_stack_view(sample.snapshot, sample.symbolizer, filter, {});
}

FrameFilter suppressed_by(std::vector<SuppressionTemplate> rules) {
  FrameFilter filter;
  filter.suppressions = std::make_shared<const Suppressions>(Suppressions{.path = "x.supp", .rules = std::move(rules)});
  return filter;
}

/// What was shown and what was not make up the whole.
void expect_whole(const StackView& view, const Snapshot& snapshot) {
  Counters sum = view.shown.counters;
  sum += view.left_out.counters;
  sum += view.suppressed.counters;
  EXPECT_EQ(sum, snapshot.totals);
  EXPECT_EQ(view.shown.stacks + view.left_out.stacks + view.suppressed.stacks, snapshot.stacks.size());
  EXPECT_EQ(view.shown.stacks, view.stacks.size());
  StackSum by_rule;
  for (const StackSum& rule : view.by_rule) {
    by_rule.stacks += rule.stacks;
    by_rule.counters += rule.counters;
  }
  EXPECT_EQ(by_rule.counters, view.suppressed.counters);
  EXPECT_EQ(by_rule.stacks, view.suppressed.stacks);
}

TEST(StackView, WithoutAFilterIsEverythingAndAsksForNoSymbols) {
  Sample sample = service_sample();
  const StackView view = view_of(sample, {});
  EXPECT_EQ(ids_of(view), (Ids{1, 3, 7, 12}));
  EXPECT_EQ(sample.symbolizer.lookups(), 0U);
  expect_whole(view, sample.snapshot);
}

TEST(StackView, FocusKeepsStacksWithACallThatMatches) {
  Sample sample = service_sample();
  EXPECT_EQ(ids_of(view_of(sample, {.focus = CallPattern("dispatch")})), (Ids{7, 12}));
  EXPECT_EQ(ids_of(view_of(sample, {.focus = CallPattern("Router::route")})), (Ids{7, 12})) << "inlined";
  EXPECT_EQ(ids_of(view_of(sample, {.focus = CallPattern("session\\.cpp$")})), (Ids{7})) << "a file";
  EXPECT_EQ(ids_of(view_of(sample, {.focus = CallPattern("libstdc")})), (Ids{3, 7})) << "a module";
  EXPECT_EQ(ids_of(view_of(sample, {.focus = CallPattern("shop::User const")})), (Ids{7})) << "the whole name";
  EXPECT_EQ(ids_of(view_of(sample, {.focus = CallPattern("^shop::SessionTable::open$")})), (Ids{7})) << "as shown";
  EXPECT_EQ(ids_of(view_of(sample, {.focus = CallPattern("DISPATCH")})), Ids{}) << "case matters";
}

TEST(StackView, IgnoreDropsThemAndOutweighsFocus) {
  Sample sample = service_sample();
  EXPECT_EQ(ids_of(view_of(sample, {.ignore = CallPattern("dispatch")})), (Ids{1, 3}));
  EXPECT_EQ(ids_of(view_of(sample, {.focus = CallPattern("dispatch"), .ignore = CallPattern("parse")})), (Ids{7}));
}

TEST(StackView, HideTakesCallsOutAndStacksOfWhichNothingIsLeft) {
  Sample sample = service_sample();
  const FrameFilter filter = {.hide = CallPattern("Router::route|^operator new$")};
  const StackView view = view_of(sample, filter);
  EXPECT_EQ(ids_of(view), (Ids{1, 3, 7, 12}));
  const CallTable calls(sample.snapshot, view.stacks, sample.symbolizer, {}, {}, filter.hides(sample.snapshot));
  std::vector<std::string> names;
  for (const ListedFrame* call : calls.list(sample.stack(7))) names.push_back(call->name);
  EXPECT_EQ(names, (std::vector<std::string>{"shop::SessionTable::open", "shop::Server::dispatch", "main",
                                             "__libc_start_call_main"}));
  ASSERT_NE(calls.deciding(sample.stack(7)), nullptr);
  EXPECT_EQ(calls.deciding(sample.stack(7))->name, "shop::SessionTable::open");
  const StackView none = view_of(sample, {.hide = CallPattern("shop-server|libc")});
  EXPECT_EQ(ids_of(none), (Ids{3, 7})) << "what is left is operator new of libstdc++, without whose name nothing is";
}

TEST(StackView, HideIsAskedAfterFocus) {
  Sample sample = service_sample();
  EXPECT_EQ(ids_of(view_of(sample, {.focus = CallPattern("dispatch"), .hide = CallPattern("dispatch")})), (Ids{7, 12}));
}

TEST(StackView, SuppressionsAreCountedByTheFirstRuleOfTheFile) {
  Sample sample = service_sample();
  const StackView view = view_of(sample, suppressed_by({SuppressionTemplate("nothing"), SuppressionTemplate("main.cpp"),
                                                        SuppressionTemplate("^shop::SessionTable::open$")}));
  EXPECT_EQ(ids_of(view), (Ids{3}));
  ASSERT_EQ(view.by_rule.size(), 3U);
  EXPECT_EQ(view.by_rule[0].stacks, 0U);
  EXPECT_EQ(view.by_rule[1].stacks, 3U) << "the leak's stack too: main comes later in it, but earlier in the file";
  EXPECT_EQ(view.by_rule[2].stacks, 0U);
  expect_whole(view, sample.snapshot);
}

TEST(StackView, WhateverIsAskedForTheWholeIsTheTotals) {
  for (Sample (*make)() : {empty_sample, service_sample, unsymbolized_sample, lossy_sample, deep_sample, hostile_sample,
                           huge_sample, unwinding_sample, export_sample}) {
    for (const char* pattern : {".", "nothing like it", "main", "^$", "[[:cntrl:]]", "a|b|c"}) {
      Sample sample = make();
      FrameFilter filter = suppressed_by({SuppressionTemplate("libc"), SuppressionTemplate("*s")});
      for (std::optional<CallPattern>* target : {&filter.focus, &filter.ignore, &filter.hide}) {
        *target = CallPattern(pattern);
        expect_whole(view_of(sample, filter), sample.snapshot);
        if (target != &filter.focus) target->reset();
      }
    }
  }
}

TEST(StackView, AStackThatWasNotRecordedHasNothingToMatch) {
  Sample sample = lossy_sample();
  const auto has_unrecorded = [&](const FrameFilter& filter) {
    return ids_of(view_of(sample, filter)).contains(static_cast<std::uint32_t>(kNoStack));
  };
  ASSERT_TRUE(has_unrecorded({}));
  EXPECT_FALSE(has_unrecorded({.focus = CallPattern(".")}));
  EXPECT_TRUE(has_unrecorded({.ignore = CallPattern(".")}));
  EXPECT_TRUE(has_unrecorded({.hide = CallPattern(".")}));
  EXPECT_TRUE(has_unrecorded(suppressed_by({SuppressionTemplate("*")})));
}

}  // namespace
}  // namespace hawk
