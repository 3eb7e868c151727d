#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/elf_fixture.h"
#include "userspace/code/probe_placement.h"
#include "userspace/code/yield_points.h"

namespace hawk {
namespace {

class InlinedCalls : public ::testing::Test {
 protected:
  YieldPlan plan_of(const std::string& name) {
    const FunctionExtent function = testing::extent_of(image_, name);
    return planner_.plan(function, kMalloc, place_probe(resolver_, function, HAWK_CALL_MALLOC).vaddr);
  }
  std::optional<YieldPlan> shared_plan_of(const std::string& name) {
    const FunctionExtent function = testing::extent_of(image_, name);
    return planner_.plan_in_shared(function, kMalloc, place_probe(resolver_, function, HAWK_CALL_MALLOC).vaddr);
  }
  bool is_in(std::uint64_t vaddr, const std::string& name) const {
    const FunctionExtent function = testing::extent_of(image_, name);
    return vaddr >= function.vaddr && vaddr - function.vaddr < function.size_bytes;
  }
  /// Its points in the function that makes blocks.
  std::vector<YieldPoint> inner_points(const YieldPlan& plan) const {
    std::vector<YieldPoint> points;
    std::copy_if(plan.points.begin(), plan.points.end(), std::back_inserter(points),
                 [](const YieldPoint& point) { return point.called_by.has_value(); });
    for (const YieldPoint& point : points) EXPECT_TRUE(is_in(point.vaddr, "cut"));
    return points;
  }

  static constexpr SeenFunction kMalloc = {.kind = HAWK_CALL_MALLOC};
  const ElfImage image_ = testing::open_image(testing::fixture_path("inlined_calls.so"));
  BranchTargets resolver_{image_};
  CodeScan scan_{image_, resolver_.exceptions()};
  YieldPlanner planner_{resolver_, scan_, Plans::kMade, [](std::uint64_t) { return std::nullopt; }};
};

TEST_F(InlinedCalls, AreSeenInTheFunctionThatIsCalled) {
  const YieldPlan plan = plan_of("returns_it");
  ASSERT_EQ(plan.fallback, "");
  EXPECT_FALSE(plan.opens_at_entry);
  const std::vector<YieldPoint> inside = inner_points(plan);
  ASSERT_EQ(inside.size(), 1U);
  EXPECT_EQ(inside[0].kind, PointKind::kYield);
  EXPECT_EQ(inside[0].result, (Operand{Operand::Kind::kRegister, 0}));
  EXPECT_EQ(inside[0].size, (Operand{Operand::Kind::kRegister, 3}));
  EXPECT_EQ(inside[0].slot_words, 1U);
  EXPECT_EQ(inside[0].called_by->words, 2U);
  EXPECT_EQ(inside[0].called_by->saved_rbp_words, std::nullopt);
  EXPECT_TRUE(is_in(inside[0].called_by->return_vaddr, "returns_it"));
  ASSERT_EQ(plan.points.size(), 2U) << "and where the cache has a block";
  for (const YieldPoint& point : plan.points) EXPECT_EQ(point.kind, PointKind::kYield);
}

/// If another process has other code there, nothing is claimed of it.
TEST_F(InlinedCalls, RestOnTheCodeOfBoth) {
  const YieldPlan plan = plan_of("returns_it");
  for (const char* name : {"cut", "returns_it"}) {
    const FunctionExtent function = testing::extent_of(image_, name);
    const std::uint64_t offset = *image_.file_offset_of(function.vaddr);
    EXPECT_TRUE(std::any_of(plan.code.begin(), plan.code.end(), [&](const CodePiece& piece) {
      return piece.file_offset == offset && piece.bytes > 16;
    })) << name;
  }
  EXPECT_TRUE(std::is_sorted(plan.code.begin(), plan.code.end(),
                             [](const CodePiece& a, const CodePiece& b) { return a.file_offset < b.file_offset; }));
}

TEST_F(InlinedCalls, MayBeMadeAgainWhereTheyHaveFailed) {
  const std::vector<YieldPoint> inside = inner_points(plan_of("asks_again"));
  ASSERT_EQ(inside.size(), 2U);
  EXPECT_EQ(inside[0].vaddr, inside[1].vaddr);
  EXPECT_NE(inside[0].called_by->return_vaddr, inside[1].called_by->return_vaddr);
  EXPECT_EQ(inside[0].called_by->words, 4U);
}

TEST_F(InlinedCalls, AreNotSeenThereWhereThatIsNotProved) {
  for (const char* name : {"asks_for_more", "returns_inside", "returns_null", "returns_its_own", "asks_twice",
                           "calls_behind", "calls_before", "loops_behind", "goes_back", "asks_others",
                           "asks_what_is_entered", "throws_behind", "goes_on_if_null", "changes_what_it_keeps"}) {
    EXPECT_TRUE(inner_points(plan_of(name)).empty()) << name;
  }
}

/// It would run into the other's points as well as into its own.
TEST_F(InlinedCalls, OfOneFunctionAreSeenThereByAllThatCallIt) {
  EXPECT_TRUE(inner_points(plan_of("keeps_size")).empty());
  EXPECT_FALSE(shared_plan_of("keeps_size")) << "nothing is seen there yet";
  ASSERT_FALSE(inner_points(plan_of("returns_it")).empty());
  const std::optional<YieldPlan> shared = shared_plan_of("keeps_size");
  ASSERT_TRUE(shared);
  EXPECT_EQ(shared->points.size(), 1U);
  EXPECT_EQ(inner_points(*shared).size(), 1U);
  EXPECT_FALSE(shared_plan_of("asks_others"));
}

}  // namespace
}  // namespace hawk
