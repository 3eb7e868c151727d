#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

#include "tests/support/elf_fixture.h"
#include "userspace/code/probe_placement.h"
#include "userspace/code/yield_points.h"

namespace hawk {
namespace {

constexpr const char* kFixture = "stored_results.so";

std::uint64_t vaddr_of(const std::string& name) {
  return testing::extent_of(testing::open_image(testing::fixture_path(kFixture)), name).vaddr;
}

/// `seen`: this function of the fixture is one that is seen itself.
YieldPlan plan_of(const std::string& name, const std::optional<std::string>& seen = std::nullopt) {
  const ElfImage image = testing::open_image(testing::fixture_path(kFixture));
  BranchTargets resolver(image);
  CodeScan scan(image, resolver.exceptions());
  YieldPlanner planner(resolver, scan, Plans::kMade, [&](std::uint64_t vaddr) -> std::optional<SeenFunction> {
    if (!seen || vaddr != testing::extent_of(image, *seen).vaddr) return std::nullopt;
    return SeenFunction{.kind = HAWK_CALL_ALIGNED_ALLOC};
  });
  const FunctionExtent function = testing::extent_of(image, name);
  return planner.plan(function, {.kind = HAWK_CALL_POSIX_MEMALIGN, .most_traps = 2},
                      place_probe(resolver, function, HAWK_CALL_POSIX_MEMALIGN).vaddr);
}

bool has_inner_call(const YieldPlan& plan) {
  return std::any_of(plan.points.begin(), plan.points.end(),
                     [](const YieldPoint& point) { return point.inner.has_value(); });
}

TEST(StoredResults, AreSeenInTheFunctionThatMakesThem) {
  const YieldPlan plan = plan_of("stores");
  ASSERT_EQ(plan.fallback, "");
  EXPECT_FALSE(plan.opens_at_entry);
  ASSERT_EQ(plan.points.size(), 3U);

  const YieldPoint& inside = plan.points[0];
  EXPECT_EQ(inside.kind, PointKind::kYieldAfterSize);
  EXPECT_GT(inside.vaddr, vaddr_of("make_block"));
  EXPECT_LT(inside.vaddr, vaddr_of("stores"));
  EXPECT_EQ(inside.result, (Operand{Operand::Kind::kRegister, 0}));
  EXPECT_EQ(inside.slot_words, 1U);

  const YieldPoint& opened = plan.points[1];
  EXPECT_EQ(opened.kind, PointKind::kSize);
  EXPECT_EQ(opened.vaddr, vaddr_of("stores"));
  EXPECT_EQ(opened.size, (Operand{Operand::Kind::kRegister, HAWK_RDX}));
  EXPECT_EQ(opened.slot_words, 0U);
  ASSERT_TRUE(opened.inner);
  EXPECT_EQ(opened.inner->words, 4U);
  EXPECT_EQ(opened.inner->saved_rbp_words, 2U);
  EXPECT_GT(opened.inner->return_vaddr, opened.vaddr);

  const YieldPoint& refused = plan.points[2];
  EXPECT_EQ(refused.kind, PointKind::kYieldAfterSize);
  EXPECT_TRUE(refused.single_stepped);
  EXPECT_EQ(refused.result, (Operand{Operand::Kind::kConstant, 0}));
  EXPECT_EQ(refused.slot_words, 0U);
}

TEST(StoredResults, OfAFunctionThatIsSeenAreSeenThere) {
  const YieldPlan plan = plan_of("stores", "make_block");
  ASSERT_EQ(plan.fallback, "");
  EXPECT_EQ(plan.points.size(), 3U);
  const ElfImage image = testing::open_image(testing::fixture_path(kFixture));
  EXPECT_EQ(plan.relies_on, std::vector{*image.file_offset_of(vaddr_of("make_block"))});
}

TEST(StoredResults, AreNotSeenThereWhereThatIsNotProved) {
  for (const char* name :
       {"stores_half", "stores_elsewhere", "stores_inside", "fails_with_block", "succeeds_without_block", "tests_half",
        "asks_again", "insists", "asks_for_more", "shares_its_return", "calls_behind", "stores_what_is_entered"}) {
    EXPECT_FALSE(has_inner_call(plan_of(name))) << name;
  }
}

}  // namespace
}  // namespace hawk
