#include "userspace/screen/view.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/screen/screen_driver.h"
#include "userspace/report/display_text.h"

namespace hawk {

Sample long_sample(std::uint32_t count) {
  Sample sample = empty_sample();
  const ModuleId exe = sample.add_module("/usr/bin/long", "");
  for (std::uint32_t index = 0; index < count; ++index) {
    const Location frame = sample.call(exe, {function(fmt::format("function_{}", index))});
    sample.add_stack(index + 1, {(count - index) * 1000, 10, 0, 0}, {frame});
  }
  return sample;
}

namespace {

TEST(View, FitsEveryScreen) {
  for (Sample (*make)() : {empty_sample, later_service_sample, unsymbolized_sample, lossy_sample, deep_sample,
                           hostile_sample, huge_sample, unwinding_sample}) {
    for (const std::string keys : {"", "b", "?", "s", "f", "/sh", "a"}) {
      Sample sample = make();
      ScreenDriver user;
      user.show(sample);
      user.type(keys);
      for (const Key key : {Key::kOther, Key::kDown, Key::kEnter, Key::kPageDown, Key::kEnd}) {
        user.press(key);
        for (const std::size_t rows : {1, 2, 3, 5, 11, 24}) {
          for (const std::size_t columns : {1, 12, 60, 200}) {
            user.resize(rows, columns);
            const std::vector<std::string> lines = user.lines();
            ASSERT_EQ(lines.size(), rows);
            for (const std::string& line : lines) {
              ASSERT_LE(display_width(line), columns) << line;
              ASSERT_EQ(printable(line), line);
            }
          }
        }
      }
    }
  }
}

TEST(View, NoTerminalNoText) {
  Sample sample = service_sample();
  ScreenDriver user;
  user.show(sample);
  user.resize(0, 80);
  EXPECT_EQ(user.text(), "");
  user.resize(5, 0);
  EXPECT_EQ(user.text(), "");
}

TEST(View, EndsWithTheKeys) {
  Sample sample = service_sample();
  ScreenDriver user;
  user.show(sample);
  EXPECT_EQ(user.lines().back(), "q quit  ? help  Enter open  / filter  s sort (live bytes)  p pause  b bytes");
  user.type("p");
  EXPECT_TRUE(user.paused());
  EXPECT_TRUE(user.contains("PAUSED"));
  EXPECT_TRUE(user.lines().back().find("p resume") != std::string::npos);
  user.resize(24, 20);
  EXPECT_EQ(user.lines().back(), "q quit  ? help");
}

TEST(View, ChangesAndRatesAreThoseSinceThePreviousSnapshot) {
  Sample before = service_sample();
  Sample now = later_service_sample();
  ScreenDriver user;
  user.show(before);
  user.show(now);
  user.type("b");
  // 250 blocks of 1280 bytes in 2 seconds, and a new stack of 65536 bytes.
  EXPECT_TRUE(user.contains("+320000 B       1250     160000 B")) << user.text();
  EXPECT_TRUE(user.contains("+65536 B          1      32768 B")) << user.text();
  EXPECT_TRUE(user.contains("in 1273 blocks  +192768 B/s")) << user.text();
}

TEST(View, StacksThatAreNotCompleteAreToldWhereTheyFit) {
  Sample sample = unwinding_sample();
  ViewOptions options = sample_view_options();
  options.interval_ns = 1'000'000'000;
  ScreenDriver user(options);
  user.show(sample);
  const auto header = [&](std::size_t columns) {
    user.resize(24, columns);
    return user.lines()[0];
  };
  EXPECT_TRUE(header(120).ends_with(
      "  numbers exact, stacks incomplete (23.0 % guessed, 6.1 % truncated)  7 stacks  every 1.0 s"))
      << header(120);
  EXPECT_TRUE(header(100).ends_with("incomplete (23.0 % guessed, 6.1 % truncated)")) << header(100);
  EXPECT_TRUE(header(82).ends_with("  numbers exact, stacks incomplete  7 stacks  every 1.0 s")) << header(82);
  user.type("p");
  EXPECT_TRUE(header(100).ends_with("incomplete  PAUSED  7 stacks  every 1.0 s")) << header(100);
}

TEST(View, NothingIsComparedAcrossAnExec) {
  Sample before = service_sample();
  Sample now = later_service_sample();
  now.snapshot.trace.exec_count = 1;
  ScreenDriver compared;
  compared.show(before);
  compared.show(now);
  ScreenDriver fresh;
  fresh.show(now);
  EXPECT_EQ(compared.text(), fresh.text());
}

TEST(View, ShrinkingIsNegative) {
  Sample before = later_service_sample();
  Sample now = service_sample();
  now.snapshot.trace.duration_ns = before.snapshot.trace.duration_ns + 1'000'000'000;
  ScreenDriver user;
  user.show(before);
  user.show(now);
  user.type("b");
  EXPECT_TRUE(user.contains("-320000 B"));
}

TEST(View, OnlyStacksOnTheScreenAreSymbolized) {
  Sample sample = service_sample();
  ScreenDriver user(sample_view_options(), 6);  // header, live, titles, one stack, which part of the list, keys
  user.show(sample);
  EXPECT_TRUE(user.contains("shop::SessionTable::open session.cpp:58 < shop::Router::route")) << user.text();
  EXPECT_TRUE(user.contains("stacks 1 to 1 of 3")) << user.text();
  EXPECT_EQ(sample.symbolizer.lookups(), 5U);
}

TEST(View, TopLimitsTheListFurther) {
  Sample sample = long_sample(20);
  ViewOptions options = sample_view_options();
  options.selection.top = 2;
  ScreenDriver user(options);
  user.show(sample);
  EXPECT_TRUE(user.contains("function_1"));
  EXPECT_FALSE(user.contains("function_2"));
}

TEST(View, NarrowTerminalsKeepTheSortedColumnAndTheFunction) {
  Sample sample = service_sample();
  ViewOptions options = sample_view_options();
  options.selection.sort = SortKey::kFreedCount;
  ScreenDriver user(options, 24, 48);
  user.show(sample);
  EXPECT_TRUE(user.contains("FREES▼"));
  EXPECT_FALSE(user.contains("ALLOC/s"));
  EXPECT_TRUE(user.contains("parse_header"));
}

TEST(View, TinyTerminalsShowTheTopStack) {
  Sample sample = long_sample(20);
  ScreenDriver user(sample_view_options(), 3, 12);
  user.show(sample);
  EXPECT_TRUE(user.lines()[1].find("KiB") != std::string::npos) << user.text();
  EXPECT_TRUE(user.lines()[2].starts_with("q quit")) << user.text();
}

TEST(View, SaysThatEverythingWasFreedAndWhichKeyShowsIt) {
  Sample before = empty_sample();
  Sample sample = empty_sample();
  const Location frame = sample.call(sample.add_module("/usr/bin/busy", ""), {function("churn")});
  sample.add_stack(1, {4096, 2, 4096, 2}, {frame});
  sample.snapshot.trace.duration_ns = before.snapshot.trace.duration_ns + 1'000'000'000;
  ScreenDriver user;
  user.show(before);
  EXPECT_TRUE(user.contains("no allocation yet"));
  user.show(sample);
  EXPECT_TRUE(user.contains("everything that was allocated has been freed:  4.00 KiB/s in 2 blocks/s; press a"))
      << user.text();
  user.type("a");
  EXPECT_TRUE(user.contains("churn"));
}

TEST(View, EveryOrderMarksItsColumn) {
  Sample before = service_sample();
  Sample now = later_service_sample();
  ScreenDriver user(sample_view_options(), 24, 200);
  user.show(before);
  user.show(now);
  for (const SortChoice& choice : kSortChoices) {
    user.type(std::string(1, choice.key));
    const char* const arrow = choice.sort == ScreenSort::kFunction ? "▲" : "▼";
    EXPECT_TRUE(user.contains(std::string(choice.title) + arrow)) << choice.title << "\n" << user.text();
  }
  user.type("l");
  user.type("s");
  EXPECT_TRUE(user.contains("CHANGE▼"));
  user.type("S");
  EXPECT_TRUE(user.contains("LIVE▼"));
}

TEST(View, FunctionsAreSortedByName) {
  Sample sample = service_sample();
  ScreenDriver user;
  user.show(sample);
  user.type("f");
  const std::size_t first = user.row_of("read_configuration");
  EXPECT_LT(first, user.row_of("shop::Cache::warm")) << user.text();
  EXPECT_LT(user.row_of("shop::Cache::warm"), user.row_of("shop::SessionTable::open")) << user.text();
}

TEST(View, ClickOnATitleSorts) {
  Sample sample = service_sample();
  ScreenDriver user;
  user.show(sample);
  const std::size_t row = user.row_of("BLOCKS");
  const std::size_t column = user.lines()[row].find("BLOCKS") - std::string("▼").size() + 1;
  user.click(row, column);
  EXPECT_TRUE(user.contains("BLOCKS▼")) << user.text();
}

TEST(View, LongListsScroll) {
  Sample sample = long_sample(100);
  ScreenDriver user;
  user.show(sample);
  EXPECT_TRUE(user.selected().find("function_0") != std::string::npos) << user.text();
  EXPECT_TRUE(user.contains("stacks 1 to 16 of 100")) << user.text();
  user.press(Key::kPageDown);
  EXPECT_TRUE(user.selected().find("function_16") != std::string::npos) << user.selected();
  user.press(Key::kEnd);
  EXPECT_TRUE(user.selected().find("function_99") != std::string::npos) << user.selected();
  EXPECT_TRUE(user.contains("stacks 85 to 100 of 100")) << user.text();
  user.press(Key::kUp);
  EXPECT_TRUE(user.selected().find("function_98") != std::string::npos) << user.selected();
  user.press(Key::kHome);
  EXPECT_TRUE(user.selected().find("function_0") != std::string::npos) << user.selected();
}

TEST(View, WhatIsScrolledToKeepsItsPlaceWhileNumbersChange) {
  Sample before = long_sample(40);
  ScreenDriver user;
  user.show(before);
  user.press(Key::kPageDown);
  const std::size_t row = user.row_of("function_16");
  Sample now = long_sample(40);
  now.snapshot.stacks[39].counters.allocated_bytes += 1'000'000'000;  // would be the first
  user.show(now);
  EXPECT_EQ(user.row_of("function_16"), row) << user.text();
  EXPECT_FALSE(user.contains("function_39"));
  user.press(Key::kEscape);
  EXPECT_TRUE(user.selected().find("function_39") != std::string::npos) << user.text();
}

TEST(View, NewStacksComeBehindAListThatIsHeld) {
  Sample before = long_sample(3);
  ScreenDriver user;
  user.show(before);
  user.press(Key::kDown);
  Sample now = long_sample(3);
  now.add_stack(100, {1'000'000, 1, 0, 0}, {now.call(ModuleId{0}, {function("newcomer")})});
  user.show(now);
  EXPECT_GT(user.row_of("newcomer"), user.row_of("function_2")) << user.text();
  EXPECT_TRUE(user.selected().find("function_1") != std::string::npos);
}

TEST(View, EnterOpensTheStackUnderTheCursorAndEscClosesIt) {
  Sample sample = service_sample();
  ScreenDriver user;
  user.show(sample);
  user.press(Key::kDown);
  user.press(Key::kEnter);
  EXPECT_TRUE(user.contains("stack 2 in the list")) << user.text();
  EXPECT_TRUE(user.contains("shop::Cache::warm"));
  EXPECT_TRUE(user.contains("shop::Warmer::run"));
  EXPECT_FALSE(user.contains("std::thread::_State_impl"));
  user.type("F");
  EXPECT_TRUE(user.contains("std::thread::_State_impl")) << user.text();
  user.press(Key::kEscape);
  EXPECT_TRUE(user.contains("FUNCTION < CALLERS"));
  EXPECT_TRUE(user.selected().find("shop::Cache::warm") != std::string::npos);
}

TEST(View, AnOpenStackIsFollowed) {
  Sample before = long_sample(3);
  ScreenDriver user;
  user.show(before);
  user.press(Key::kEnter);
  Sample now = long_sample(3);
  now.snapshot.stacks[2].counters.allocated_bytes += 1'000'000'000;  // would be the first
  now.snapshot.stacks[0].counters.allocated_bytes += 24;
  user.show(now);
  EXPECT_TRUE(user.contains("function_0")) << user.text();
  EXPECT_FALSE(user.contains("function_2"));
  user.type("b");
  EXPECT_TRUE(user.contains("3024 B")) << user.text();
}

TEST(View, AnOpenStackOfAProgramThatIsGoneIsClosed) {
  Sample before = long_sample(3);
  ScreenDriver user;
  user.show(before);
  user.press(Key::kEnter);
  Sample now = service_sample();
  now.snapshot.trace.exec_count = 1;
  user.show(now);
  EXPECT_TRUE(user.contains("FUNCTION < CALLERS")) << user.text();
}

TEST(View, LongStacksScroll) {
  Sample sample = empty_sample();
  const ModuleId exe = sample.add_module("/usr/bin/deep", "");
  std::vector<Location> frames;
  for (int depth = 0; depth < 60; ++depth)
    frames.push_back(sample.call(exe, {function(fmt::format("depth_{}", depth))}));
  sample.add_stack(1, {100, 1, 0, 0}, frames);
  ScreenDriver user;
  user.show(sample);
  user.press(Key::kEnter);
  EXPECT_TRUE(user.contains("depth_0 "));
  EXPECT_FALSE(user.contains("depth_59"));
  user.press(Key::kEnd);
  EXPECT_TRUE(user.contains("depth_59")) << user.text();
  user.press(Key::kHome);
  EXPECT_TRUE(user.contains("stack 1 in the list"));
}

TEST(View, FilterKeepsStacksWithACallThatMatches) {
  Sample sample = service_sample();
  ScreenDriver user;
  user.show(sample);
  user.type("/WARMER::r");
  EXPECT_TRUE(user.lines().back().starts_with("/WARMER::r_")) << user.text();
  EXPECT_TRUE(user.contains("shop::Cache::warm"));
  EXPECT_FALSE(user.contains("SessionTable"));
  user.press(Key::kEnter);
  EXPECT_TRUE(user.lines().back().starts_with("filter /WARMER::r/")) << user.text();
  user.press(Key::kEscape);
  EXPECT_TRUE(user.contains("SessionTable"));
}

TEST(View, FilterIsEditedAndCleared) {
  Sample sample = service_sample();
  ScreenDriver user;
  user.show(sample);
  user.type("/nosuchq");
  EXPECT_TRUE(user.contains("no stack matches the filter")) << user.text();
  for (int i = 0; i < 7; ++i) user.press(Key::kBackspace);
  EXPECT_TRUE(user.contains("SessionTable")) << user.text();
  user.type("Cache");
  user.press(Key::kEscape);
  EXPECT_TRUE(user.contains("SessionTable"));
  EXPECT_TRUE(user.lines().back().starts_with("q quit"));
}

TEST(View, ClickSelectsAndASecondOpens) {
  Sample sample = long_sample(5);
  ScreenDriver user;
  user.show(sample);
  const std::size_t row = user.row_of("function_3");
  user.click(row, 5);
  EXPECT_TRUE(user.selected().find("function_3") != std::string::npos);
  user.click(row, 5);
  EXPECT_TRUE(user.contains("stack 4 in the list")) << user.text();
}

TEST(View, QuitsAndTogglesTheMouse) {
  Sample sample = service_sample();
  ScreenDriver user;
  user.show(sample);
  EXPECT_EQ(user.type("M"), Reaction::kToggleMouse);
  EXPECT_EQ(user.type("m"), Reaction::kMark);
  EXPECT_EQ(user.type("q"), Reaction::kQuit);
  EXPECT_EQ(user.type("x"), Reaction::kNone);
}

TEST(View, HelpNamesEveryKeyAndScrolls) {
  Sample sample = service_sample();
  ScreenDriver user(sample_view_options(), 12, 80);
  user.show(sample);
  user.type("?");
  EXPECT_TRUE(user.contains("Enter"));
  EXPECT_FALSE(user.contains("distinguishes equal lines"));
  user.press(Key::kEnd);
  EXPECT_TRUE(user.contains("distinguishes equal lines")) << user.text();
  user.type("?");
  EXPECT_TRUE(user.contains("FUNCTION < CALLERS")) << user.text();
}

}  // namespace
}  // namespace hawk
