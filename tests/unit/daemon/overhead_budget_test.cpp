#include "userspace/daemon/overhead_budget.h"

#include <gtest/gtest.h>

namespace hawk {
namespace {

using namespace std::chrono_literals;

OverheadBudget::Time at(std::chrono::seconds seconds) { return OverheadBudget::Time{} + 1000h + seconds; }

TEST(OverheadBudget, HasNoLimitWithoutOne) {
  OverheadBudget budget(std::nullopt, 60s);
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(budget.note(5.0, at(std::chrono::seconds(i))));
  EXPECT_TRUE(budget.may_trace(at(100s)));
}

TEST(OverheadBudget, IsNotExceededByABurst) {
  OverheadBudget budget(5.0, 60s);
  EXPECT_FALSE(budget.note(0.06, at(1s)));
  EXPECT_FALSE(budget.note(0.06, at(2s)));
  EXPECT_FALSE(budget.note(0.05, at(3s)));
  EXPECT_FALSE(budget.note(0.06, at(4s)));
  EXPECT_FALSE(budget.note(0.06, at(5s)));
  EXPECT_TRUE(budget.note(0.06, at(6s)));
}

/// Gives up at `when`, and returns how long the wait is.
std::chrono::nanoseconds wait_after(OverheadBudget& budget, OverheadBudget::Time when) {
  EXPECT_FALSE(budget.note(1.0, when));
  EXPECT_FALSE(budget.note(1.0, when));
  EXPECT_TRUE(budget.note(1.0, when));
  budget.gave_up(when);
  EXPECT_FALSE(budget.may_trace(when));
  const std::chrono::nanoseconds left = budget.left(when);
  EXPECT_FALSE(budget.may_trace(when + left - 1ns));
  EXPECT_TRUE(budget.may_trace(when + left));
  return left;
}

TEST(OverheadBudget, WaitsLongerEachTime) {
  OverheadBudget budget(5.0, 60s);
  EXPECT_EQ(wait_after(budget, at(0s)), 60s);
  EXPECT_EQ(wait_after(budget, at(60s)), 120s);
  EXPECT_EQ(wait_after(budget, at(180s)), 240s);
  for (int i = 0; i < 10; ++i) wait_after(budget, at(1000s));
  EXPECT_EQ(wait_after(budget, at(2000s)), OverheadBudget::kLongestWait);
}

TEST(OverheadBudget, ForgetsALoadThatHasPassed) {
  OverheadBudget budget(5.0, 60s);
  wait_after(budget, at(0s));
  wait_after(budget, at(60s));  // the next wait would be 240 s
  EXPECT_FALSE(budget.note(0.01, at(200s)));
  EXPECT_FALSE(budget.note(0.01, at(500s)));
  EXPECT_EQ(wait_after(budget, at(501s)), 60s);
}

}  // namespace
}  // namespace hawk
