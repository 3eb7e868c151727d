#include "userspace/code/function_walk.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/elf_fixture.h"

namespace hawk {
namespace {

class FunctionWalkTest : public ::testing::Test {
 protected:
  FunctionWalk walk(const std::string& name, const WalkOptions& options = {}) {
    return walk_function(resolver, testing::extent_of(image, name), options);
  }

  const ElfImage image = testing::open_image(testing::fixture_path("allocator_ibt.so"));
  BranchTargets resolver{image};
};

TEST_F(FunctionWalkTest, CallsThroughThePltAreNamed) {
  const FunctionWalk found = walk("_ZnamRKSt9nothrow_t");
  ASSERT_EQ(found.calls.size(), 1u);
  EXPECT_EQ(found.calls[0].target.name, "malloc");
  EXPECT_EQ(found.calls[0].target.vaddr, testing::extent_of(image, "malloc").vaddr);
  EXPECT_EQ(found.calls[0].state.rsp, -8);
  EXPECT_EQ(found.returns.size(), 1u);
  EXPECT_TRUE(found.incomplete.empty());
}

TEST_F(FunctionWalkTest, CallsThroughTheGotAreNamed) {
  const FunctionWalk found = walk("free_aligned_sized");
  ASSERT_EQ(found.calls.size(), 1u);
  EXPECT_EQ(found.calls[0].target.name, "free");
}

TEST_F(FunctionWalkTest, TailCallsAreFollowedIntoThisFile) {
  const FunctionWalk found = walk("_Znam");
  EXPECT_TRUE(std::binary_search(found.branch_targets.begin(), found.branch_targets.end(),
                                 testing::extent_of(image, "_Znwm").vaddr));
  EXPECT_EQ(found.returns.size(), 2u);
  EXPECT_TRUE(found.incomplete.empty());
}

TEST_F(FunctionWalkTest, AThrowEndsItsPath) {
  // The ret behind the throw would be a third.
  EXPECT_EQ(walk("_Znwm").returns.size(), 2u);
}

TEST_F(FunctionWalkTest, PathsEndWhereToldTo) {
  WalkOptions options;
  options.ends_path = [](const CodeTarget& target) { return target.name == "free"; };
  FunctionWalk found = walk("_ZdlPvm", options);
  EXPECT_EQ(found.ended_paths, 1u);
  EXPECT_EQ(found.returns.size(), 1u);
  options.skip_null_argument = true;
  found = walk("_ZdlPvm", options);
  EXPECT_EQ(found.ended_paths, 1u);
  EXPECT_TRUE(found.returns.empty());
  EXPECT_FALSE(walk("_ZdaPvm", options).returns.empty());
}

TEST_F(FunctionWalkTest, GivesUpWithAReason) {
  EXPECT_NE(walk("_ZnwmSt11align_val_t").incomplete, "");
  WalkOptions options;
  options.max_instructions = 2;
  EXPECT_EQ(walk("malloc", options).incomplete, "its code is too long to be followed");
}

TEST(IsNoreturn, KnowsTheRuntimesThrowers) {
  EXPECT_TRUE(is_noreturn("abort"));
  EXPECT_TRUE(is_noreturn("__cxa_throw"));
  EXPECT_TRUE(is_noreturn("_ZSt17__throw_bad_allocv"));
  EXPECT_TRUE(is_noreturn("_ZSt20__throw_system_errori"));
  EXPECT_FALSE(is_noreturn("_ZSt15get_new_handlerv"));
  EXPECT_FALSE(is_noreturn("_ZSt"));
  EXPECT_FALSE(is_noreturn(""));
}

}  // namespace
}  // namespace hawk
