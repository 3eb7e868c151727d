#include "userspace/report/stack_differences.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/report/sample_snapshots.h"
#include "userspace/report/function_numbers.h"

namespace hawk {
namespace {

ListedFrame call(const std::string& name, std::uint32_t line = 0, std::uint64_t address = 0) {
  const Location location{address, ModuleId{0}, address};
  static FunctionNumbers numbers;
  return {location, function(name, line == 0 ? "" : "src/a.c", line), name, sample_role_of(name),
          numbers.number_of(location, name)};
}

/// What is found for stacks of these calls.
std::vector<std::string> differences(const std::vector<std::vector<ListedFrame>>& stacks, std::size_t most_calls = 4) {
  std::vector<FrameList> lists;
  for (const std::vector<ListedFrame>& stack : stacks) {
    lists.emplace_back();
    for (const ListedFrame& frame : stack) lists.back().push_back(&frame);
  }
  return distinguish_stacks(lists, most_calls);
}

using Texts = std::vector<std::string>;

TEST(StackDifferences, TheFirstCallerThatDiffersIsNamed) {
  EXPECT_EQ(differences({{call("get"), call("red"), call("main")}, {call("get"), call("blue"), call("main")}}),
            (Texts{" < red", " < blue"}));
  EXPECT_EQ(differences({{call("get"), call("by"), call("red")}, {call("get"), call("by"), call("blue")}}),
            (Texts{" < … red", " < … blue"}));
  EXPECT_EQ(differences({{call("get"), call("main")}, {call("get")}}), (Texts{" < main", " < (no further frame)"}));
}

TEST(StackDifferences, OneThatDoesNotDoIsFollowedByOthers) {
  EXPECT_EQ(differences({{call("get"), call("red"), call("one")},
                         {call("get"), call("red"), call("two")},
                         {call("get"), call("blue"), call("one")}}),
            (Texts{" < red < … one", " < red < … two", " < blue"}));
  EXPECT_EQ(differences({{call("get"), call("red"), call("one")},
                         {call("get"), call("red"), call("two")},
                         {call("get"), call("blue"), call("one")}},
                        1),
            (Texts{" < red", " < red", " < blue"}));
}

TEST(StackDifferences, OfOneFunctionTheLineOrTheAddressIsTold) {
  EXPECT_EQ(differences({{call("get", 10), call("main")}, {call("get", 12), call("main")}}),
            (Texts{"  a.c:10", "  a.c:12"}));
  EXPECT_EQ(differences({{call("get"), call("loop", 10)}, {call("get"), call("loop", 12)}}),
            (Texts{" < loop a.c:10", " < loop a.c:12"}));
  EXPECT_EQ(differences({{call("get", 0, 0x10)}, {call("get", 0, 0x20)}}), (Texts{"  0x10", "  0x20"}));
}

TEST(StackDifferences, WhatIsFoldedIsNoDifference) {
  EXPECT_EQ(differences({{call("operator new"), call("get"), call("std::a"), call("red")},
                         {call("std::b"), call("get"), call("blue")}}),
            (Texts{" < red", " < blue"}));
  EXPECT_EQ(differences({{call("operator new"), call("get")}, {call("std::b"), call("get")}}), (Texts{"", ""}));
  EXPECT_EQ(differences({{call("get"), call("main")}, {call("get"), call("main")}}), (Texts{"", ""}));
  EXPECT_EQ(differences({{call("get"), call("get"), call("main")}, {call("get"), call("main")}}), (Texts{"", ""}));
  EXPECT_EQ(differences({{}, {}}), (Texts{"", ""}));
}

TEST(StackDifferences, OfAnInterpretersStacksItIsTheProgramItRunsThenWhatItDid) {
  ListedFrame interpreted = call("py::load");
  interpreted.location.module.reset();
  ListedFrame other = call("py::parse");
  other.location.module.reset();
  EXPECT_EQ(differences({{call("list_resize"), interpreted}, {call("PyBytes_New"), interpreted}}),
            (Texts{" (list_resize)", " (PyBytes_New)"}));
  EXPECT_EQ(differences({{call("list_resize"), interpreted, call("eval"), other},
                         {call("list_resize"), interpreted, call("eval"), interpreted}}),
            (Texts{" < … py::parse", " < … py::load"}));
}

}  // namespace
}  // namespace hawk
