#include "userspace/code/plan_reliance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/elf_fixture.h"
#include "userspace/code/allocator_functions.h"

namespace hawk {
namespace {

/// Of that function of a library built from relied_on.s.
YieldPlan plan_in(const std::string& library, const std::string& name) {
  const ElfImage image = testing::open_image(testing::fixture_path(library));
  const AllocatorFile file = find_allocator_functions(image, Plans::kMade);
  const auto found = std::find_if(file.functions.begin(), file.functions.end(), [&](const AllocatorFunction& function) {
    return function.names == std::vector{name};
  });
  if (found != file.functions.end()) return found->yields;
  ADD_FAILURE() << library << " has no " << name;
  return {};
}

/// Of the other function it is not known whether it shows that it fails.
void expect_seen_when_it_fails(const std::string& library) {
  EXPECT_EQ(plan_in(library, "aligned_alloc").fallback, "");
  const YieldPlan plan = plan_in(library, "posix_memalign");
  ASSERT_EQ(plan.fallback, "");
  EXPECT_EQ(plan.relies_on.size(), 1U);
  ASSERT_EQ(plan.points.size(), 2U);
  EXPECT_EQ(plan.points[0].kind, PointKind::kSize);
  const YieldPoint& failure = plan.points[1];
  EXPECT_EQ(failure.kind, PointKind::kYieldAfterSize);
  EXPECT_EQ(failure.result, (Operand{Operand::Kind::kConstant, 0}));
  EXPECT_EQ(failure.condition, 4);  // je
  EXPECT_EQ(failure.slot_words, 3U);
}

TEST(PlanReliance, IsOnBlocksAlone) {
  expect_seen_when_it_fails("relied_on.so");
  expect_seen_when_it_fails("relied_on_fails.so");
}

TEST(PlanReliance, IsNotOnAPlanOfOneThatGoesOnInAnother) {
  EXPECT_EQ(plan_in("relied_on_goes_on.so", "aligned_alloc").fallback, "");
  EXPECT_NE(plan_in("relied_on_goes_on.so", "posix_memalign").fallback, "");
}

AllocatorFunction function_with(std::uint64_t entry_offset, std::vector<std::uint64_t> relies_on) {
  AllocatorFunction function;
  function.entry_offset = entry_offset;
  function.yields.points = {YieldPoint()};
  function.yields.relies_on = std::move(relies_on);
  return function;
}

TEST(PlanReliance, GoesWithTheLastOfThem) {
  AllocatorFile file;
  file.functions = {function_with(0x100, {0x200}), function_with(0x200, {0x300}), function_with(0x300, {})};
  AllocatorFile without = file;
  settle_reliance(file);
  for (const AllocatorFunction& function : file.functions) EXPECT_FALSE(function.yields.points.empty());
  without.functions[2].yields.goes_on = true;
  settle_reliance(without);
  EXPECT_TRUE(without.functions[0].yields.points.empty());
  EXPECT_TRUE(without.functions[1].yields.points.empty());
  EXPECT_FALSE(without.functions[2].yields.points.empty());
}

/// One that is seen at its entry would undo what has been done to the block before.
TEST(PlanReliance, IsOnPointsWhereTheBlockIsLeftBehind) {
  AllocatorFile file;
  file.functions = {function_with(0x100, {}), function_with(0x200, {})};
  file.functions[0].yields.leaves_block_to = {0x200};
  file.functions[1].yields.goes_on = true;
  settle_reliance(file);
  EXPECT_FALSE(file.functions[0].yields.points.empty());
  file.functions[1].yields = no_plan("none");
  settle_reliance(file);
  EXPECT_TRUE(file.functions[0].yields.points.empty());
}

}  // namespace
}  // namespace hawk
