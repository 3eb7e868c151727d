#include "userspace/screen/row_names.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "tests/unit/screen/screen_driver.h"

namespace hawk {
namespace {

/// The lines of all stacks of `sample`, each in `columns`.
std::vector<std::string> lines_of(Sample& sample, std::size_t columns) {
  std::vector<const StackRecord*> stacks;
  for (const StackRecord& stack : sample.snapshot.stacks) stacks.push_back(&stack);
  const CallTable calls(sample.snapshot, stacks, sample.symbolizer, sample_role_of);
  RowNames names(stacks, calls);
  names.distinguish(columns);
  std::vector<std::string> lines;
  for (std::size_t row = 0; row < stacks.size(); ++row) {
    StyledLine line;
    names.add(line, row, columns);
    lines.push_back(line.render(columns, false));
  }
  return lines;
}

struct SameFront {
  Sample sample = empty_sample();
  ModuleId exe = sample.add_module("/usr/bin/same", "");
  Location get = sample.call(exe, {function("get")});
  Location middle = sample.call(exe, {function("a_caller_whose_name_fills_the_line")});
  std::uint32_t next = 1;

  void add(const std::vector<Location>& callers) {
    std::vector<Location> frames = {get, middle};
    frames.insert(frames.end(), callers.begin(), callers.end());
    sample.add_stack(next++, {100, 1, 0, 0}, frames);
  }
  Location call(const std::string& name, std::uint32_t line = 0) {
    return sample.call(exe, {function(name, line == 0 ? "" : "same.c", line)});
  }
};

TEST(RowNames, DifferentStacksNeverLookTheSame) {
  SameFront made;
  const Location red = made.call("red");
  const Location blue = made.call("blue");
  made.add({red, made.call("main")});
  made.add({blue, made.call("main")});
  const std::vector<std::string> lines = lines_of(made.sample, 40);
  EXPECT_TRUE(lines[0].ends_with("… red")) << lines[0];
  EXPECT_TRUE(lines[1].ends_with("… blue")) << lines[1];
}

TEST(RowNames, ALineTellsCallsOfOneFunctionApart) {
  SameFront made;
  made.add({made.call("loop", 10)});
  made.add({made.call("loop", 12)});
  const std::vector<std::string> lines = lines_of(made.sample, 48);
  EXPECT_TRUE(lines[0].ends_with("… loop same.c:10")) << lines[0];
  EXPECT_TRUE(lines[1].ends_with("… loop same.c:12")) << lines[1];
}

TEST(RowNames, AnAddressTellsCallsOfOneLineApart) {
  SameFront made;
  made.add({made.call("loop")});
  made.add({made.call("loop")});
  const std::vector<std::string> lines = lines_of(made.sample, 80);
  EXPECT_TRUE(lines[0].find("… loop 0x") != std::string::npos) << lines[0];
  EXPECT_NE(lines[0], lines[1]);
}

TEST(RowNames, EachOfManyIsTold) {
  SameFront made;
  const Location left = made.call("left");
  const Location right = made.call("right");
  const Location one = made.call("one");
  const Location two = made.call("two");
  for (const Location& side : {left, right}) {
    made.add({side, one});
    made.add({side, two});
    made.add({side});
  }
  const std::vector<std::string> lines = lines_of(made.sample, 44);
  EXPECT_TRUE(lines[0].ends_with("… left < … one")) << lines[0];
  EXPECT_TRUE(lines[5].ends_with("… right < … (no further frame)")) << lines[5];
}

TEST(RowNames, StacksThatNoOneCallTellsApartHaveTheirNumber) {
  SameFront made;
  const Location left = made.call("left");
  const Location right = made.call("right");
  for (const Location& first : {left, right}) {
    for (const Location& second : {left, right}) {
      for (const Location& third : {left, right}) made.add({first, second, third});
    }
  }
  const std::vector<std::string> lines = lines_of(made.sample, 48);
  EXPECT_EQ(std::set<std::string>(lines.begin(), lines.end()).size(), 8U) << lines[0];
}

TEST(RowNames, WhatFitsIsNotChanged) {
  Sample sample = service_sample();
  for (const std::string& line : lines_of(sample, 200)) EXPECT_EQ(line.find("…"), std::string::npos) << line;
}

TEST(RowNames, ManyRowsInNoRoom) {
  SameFront made;
  made.add({made.call("red")});
  made.add({made.call("blue")});
  for (std::size_t columns = 0; columns < 12; ++columns) EXPECT_EQ(lines_of(made.sample, columns).size(), 2U);
}

}  // namespace
}  // namespace hawk
