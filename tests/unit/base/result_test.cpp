#include "userspace/base/result.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace hawk {
namespace {

Result<std::unique_ptr<int>> make_number(bool works) {
  if (!works) return fail(ExitCode::kNoTarget, "make a number: refused", "ask again");
  return std::make_unique<int>(20);
}

Result<void> check_number(int number) {
  if (number != 20) return fail(ExitCode::kUsage, "check the number: wrong");
  return {};
}

/// Unwraps a move-only value, then passes through a void result.
Result<std::string> describe(bool works, int& steps) {
  const std::unique_ptr<int> number = HAWK_TRY(make_number(works));
  ++steps;
  HAWK_TRY_VOID(check_number(*number + steps - 1));
  ++steps;
  return std::to_string(*number);
}

TEST(Try, UnwrapsTheValue) {
  int steps = 0;
  const Result<std::string> described = describe(true, steps);
  ASSERT_TRUE(described);
  EXPECT_EQ(*described, "20");
  EXPECT_EQ(steps, 2);
}

TEST(Try, ReturnsTheErrorUnchangedAndAtOnce) {
  int steps = 0;
  const Result<std::string> described = describe(false, steps);
  ASSERT_FALSE(described);
  EXPECT_EQ(steps, 0);
  EXPECT_EQ(described.error().exit_code, ExitCode::kNoTarget);
  EXPECT_EQ(described.error().what, "make a number: refused");
  EXPECT_EQ(described.error().hint, "ask again");
}

TEST(Try, VoidReturnsTheErrorUnchanged) {
  int steps = 5;
  const Result<std::string> described = describe(true, steps);
  ASSERT_FALSE(described);
  EXPECT_EQ(steps, 6);
  EXPECT_EQ(described.error().exit_code, ExitCode::kUsage);
  EXPECT_EQ(described.error().hint, "");
}

TEST(ExitCode, ValuesThatScriptsRelyOn) {
  EXPECT_EQ(static_cast<int>(ExitCode::kOk), 0);
  EXPECT_EQ(static_cast<int>(ExitCode::kUsage), 2);
  EXPECT_EQ(static_cast<int>(ExitCode::kNoTarget), 3);
  EXPECT_EQ(static_cast<int>(ExitCode::kPrivilege), 4);
  EXPECT_EQ(static_cast<int>(ExitCode::kNotExact), 5);
  EXPECT_EQ(static_cast<int>(ExitCode::kFile), 6);
  EXPECT_EQ(static_cast<int>(ExitCode::kItself), 125);
  EXPECT_EQ(static_cast<int>(ExitCode::kCannotExecute), 126);
  EXPECT_EQ(static_cast<int>(ExitCode::kNotFound), 127);
}

/// As env and timeout: what a command may exit with as well is not used for our own failures.
TEST(ExitCode, OwnFailuresAreToldFromTheCommands) {
  for (const ExitCode code : {ExitCode::kUsage, ExitCode::kNoTarget, ExitCode::kPrivilege, ExitCode::kFile,
                              ExitCode::kInternal, ExitCode::kItself}) {
    EXPECT_EQ(exit_status_of(code, true), 125);
    EXPECT_EQ(exit_status_of(code, false), static_cast<int>(code));
  }
  EXPECT_EQ(exit_status_of(ExitCode::kNotExact, true), 5) << "it was asked for";
  EXPECT_EQ(exit_status_of(ExitCode::kCannotExecute, true), 126);
  EXPECT_EQ(exit_status_of(ExitCode::kNotFound, true), 127);
}

}  // namespace
}  // namespace hawk
