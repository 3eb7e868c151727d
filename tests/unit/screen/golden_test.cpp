#include <gtest/gtest.h>

#include "tests/unit/report/golden_file.h"
#include "tests/unit/screen/screen_driver.h"

// Whole screens, compared with tests/golden.
namespace hawk {
namespace {

ViewOptions golden_options() {
  ViewOptions options = sample_view_options();
  options.interval_ns = 2'000'000'000;
  return options;
}

TEST(GoldenScreen, List) {
  Sample before = service_sample();
  Sample now = later_service_sample();
  ScreenDriver user(golden_options(), 16, 100);
  user.show(before);
  user.show(now);
  expect_golden("live.txt", user.text());
}

TEST(GoldenScreen, StacksOfEveryQuality) {
  Sample sample = unwinding_sample();
  ScreenDriver user(golden_options(), 16, 100);
  user.show(sample);
  expect_golden("unwinding_live.txt", user.text());
}

TEST(GoldenScreen, NumbersAndStacksAreTwoPromisesAtEightyColumnsToo) {
  Sample sample = unwinding_sample();
  ScreenDriver user(golden_options(), 16, 80);
  user.show(sample);
  expect_golden("unwinding_live_80.txt", user.text());
}

TEST(GoldenScreen, SortedByAllocatedWithoutRates) {
  Sample sample = lossy_sample();
  ScreenDriver user(golden_options(), 16, 100);
  user.show(sample);
  user.type("ap");
  expect_golden("live_allocated.txt", user.text());
}

TEST(GoldenScreen, SeveralProcesses) {
  Sample sample = several_sample();
  ScreenDriver user(golden_options(), 16, 100);
  user.show(sample);
  std::string screens = user.text();
  user.type("P");
  expect_golden("live_several.txt", screens + user.text());
}

TEST(GoldenScreen, Help) {
  Sample sample = service_sample();
  ScreenDriver user(golden_options(), 30, 80);
  user.show(sample);
  user.type("?");
  expect_golden("live_help.txt", user.text());
}

TEST(GoldenScreen, OneStack) {
  Sample before = service_sample();
  Sample now = later_service_sample();
  ScreenDriver user(golden_options(), 24, 100);
  user.show(before);
  user.show(now);
  user.press(Key::kEnter);
  expect_golden("live_stack.txt", user.text());
}

TEST(GoldenScreen, OnTheSmallestTerminal) {
  Sample sample = service_sample();
  ScreenDriver user(golden_options(), 3, 12);
  user.show(sample);
  expect_golden("live_tiny.txt", user.text());
}

}  // namespace
}  // namespace hawk
