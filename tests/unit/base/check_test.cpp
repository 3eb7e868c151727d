#include "userspace/base/check.h"

#include <gtest/gtest.h>

namespace hawk {
namespace {

TEST(CheckDeathTest, FalseConditionAbortsAndNamesItself) {
  const int answer = 41;
  EXPECT_DEATH(HAWK_CHECK(answer == 42, "the answer is known"),
               "hawktrace: internal error at .*check_test.cpp:[0-9]+: the answer is known \\(answer == 42\\)");
}

TEST(Check, TrueConditionIsEvaluatedOnceAndContinues) {
  int evaluations = 0;
  HAWK_CHECK(++evaluations == 1, "evaluated once");
  EXPECT_EQ(evaluations, 1);
}

TEST(Check, BindsAsOneStatement) {
  bool else_taken = false;
  if (else_taken)
    HAWK_CHECK(false, "never reached");
  else
    else_taken = true;
  EXPECT_TRUE(else_taken);
}

}  // namespace
}  // namespace hawk
