#include "userspace/code/yield_points.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "tests/support/elf_fixture.h"
#include "userspace/code/allocator_functions.h"
#include "userspace/code/probe_placement.h"

namespace hawk {
namespace {

YieldPlan plan_of(const std::string& name, bool may_throw = false) {
  const ElfImage image = testing::open_image(testing::fixture_path("yield_points.so"));
  BranchTargets resolver(image);
  CodeScan scan(image, resolver.exceptions());
  YieldPlanner planner(resolver, scan, Plans::kMade, [](std::uint64_t) { return std::nullopt; });
  const FunctionExtent function = testing::extent_of(image, name);
  return planner.plan(function,
                      {.kind = HAWK_CALL_MALLOC,
                       .arguments = kPassedInOrder,
                       .may_throw = may_throw,
                       .most_traps = may_throw ? 2U : 1U},
                      place_probe(resolver, function, HAWK_CALL_MALLOC).vaddr);
}

/// Where a function of the fixture finds out whether there is a block: behind `mov blocks(%rip), %rax` and a test.
std::uint64_t first_branch_of(const std::string& name) {
  constexpr std::uint64_t kBytesBefore = 10;
  return testing::extent_of(testing::open_image(testing::fixture_path("yield_points.so")), name).vaddr + kBytesBefore;
}

TEST(YieldPoints, TheLastBranchTellsAll) {
  const YieldPlan plan = plan_of("plain");
  EXPECT_EQ(plan.fallback, "");
  EXPECT_FALSE(plan.opens_at_entry);
  ASSERT_EQ(plan.points.size(), 1u);
  const YieldPoint& point = plan.points[0];
  EXPECT_EQ(point.kind, PointKind::kYield);
  EXPECT_EQ(point.condition, std::nullopt);  // where it is taken rax is 0, which is what is returned then
  EXPECT_EQ(point.result, (Operand{Operand::Kind::kRegister, 0}));
  EXPECT_EQ(point.size, (Operand{Operand::Kind::kRegister, HAWK_RDI}));
  EXPECT_EQ(point.slot_words, 0u);
}

TEST(YieldPoints, WhatIsLookedAtBehindThePointMayEndTheProgram) {
  for (const char* name : {"ends_if_damaged", "jumps_if_damaged"}) {
    const YieldPlan plan = plan_of(name);
    EXPECT_EQ(plan.fallback, "") << name;
    ASSERT_EQ(plan.points.size(), 1u) << name;
    EXPECT_EQ(plan.points[0].condition, std::nullopt) << name;
    EXPECT_EQ(plan.points[0].vaddr, first_branch_of(name)) << name;
  }
}

/// The program could go on without the block.
TEST(YieldPoints, NoPointPrecedesACallThatMayBeLeft) {
  for (const char* name : {"returns_if_damaged", "throws_if_damaged", "exits_if_damaged", "unknown_if_damaged"}) {
    const YieldPlan plan = plan_of(name);
    EXPECT_EQ(plan.fallback, "") << name;
    ASSERT_EQ(plan.points.size(), 1u) << name;
    EXPECT_GT(plan.points[0].vaddr, first_branch_of(name)) << name;
    EXPECT_EQ(plan.points[0].condition, 4) << name;  // je: it is not damaged
  }
}

TEST(YieldPoints, OnlyWhatIsFoundToBeZeroServesFailuresToo) {
  for (const char* name : {"other_is_zero", "half_is_zero", "zero_on_one_path"}) {
    const YieldPlan plan = plan_of(name);
    EXPECT_EQ(plan.fallback, "") << name;
    ASSERT_EQ(plan.points.size(), 1u) << name;
    EXPECT_EQ(plan.points[0].condition, 5) << name;  // jne
  }
  EXPECT_EQ(plan_of("not_zero").points.at(0).condition, 4);  // je
}

TEST(YieldPoints, TheWholeFunctionIsWhatThePlanRestsOn) {
  const ElfImage image = testing::open_image(testing::fixture_path("yield_points.so"));
  const FunctionExtent function = testing::extent_of(image, "plain");
  const std::vector<CodePiece> code = plan_of("plain").code;
  ASSERT_EQ(code.size(), 1u);
  EXPECT_EQ(code[0].file_offset, image.file_offset_of(function.vaddr));
  EXPECT_EQ(code[0].bytes, function.size_bytes);
}

TEST(YieldPoints, AsManyTrapsAsByReturnProbesAreNoPlan) {
  EXPECT_EQ(plan_of("asks_first").fallback, "every call would run into several points");
}

/// Or the call would be opened once more, and what was nested in it until then be in doubt.
TEST(YieldPoints, TheSizeIsReadOnceOnAPath) {
  const YieldPlan plan = plan_of("asks_twice", true);
  EXPECT_EQ(plan.fallback, "");
  EXPECT_EQ(std::count_if(plan.points.begin(), plan.points.end(),
                          [](const YieldPoint& point) { return point.kind == PointKind::kSize; }),
            1);
}

TEST(YieldPoints, WhatCannotBeProvedHasNoPlan) {
  for (const char* name :
       {"size_changed", "block_changed", "avoided", "entered", "by_table", "by_thunk", "by_return"}) {
    const YieldPlan plan = plan_of(name);
    EXPECT_TRUE(plan.points.empty()) << name;
    EXPECT_NE(plan.fallback, "") << name;
  }
  EXPECT_EQ(plan_of("entered").fallback, "other code jumps into its middle");
  EXPECT_EQ(plan_of("begun_inside").fallback, "another function begins in its middle");
}

/// Of a function that asks others for whole pages. `other`: one that is seen, as `seen` says.
YieldPlan plan_of_pvalloc(const std::string& name, const std::string& other, const SeenFunction& seen) {
  const ElfImage image = testing::open_image(testing::fixture_path("yield_points.so"));
  BranchTargets resolver(image);
  CodeScan scan(image, resolver.exceptions());
  YieldPlanner planner(resolver, scan, Plans::kMade, [&](std::uint64_t vaddr) {
    return vaddr == testing::extent_of(image, other).vaddr ? std::optional(seen) : std::nullopt;
  });
  const FunctionExtent function = testing::extent_of(image, name);
  return planner.plan(function, {.kind = HAWK_CALL_MALLOC, .most_traps = 3, .rounds_to_pages = true},
                      place_probe(resolver, function, HAWK_CALL_MALLOC).vaddr);
}

/// What malloc is asked for is less than a page: there pvalloc does not go on. Elsewhere it may.
TEST(YieldPoints, WholePagesAreNotWhatWasAskedFor) {
  const SeenFunction malloc = {.kind = HAWK_CALL_MALLOC, .is_malloc = true}, valloc = {.kind = HAWK_CALL_MALLOC};
  const SeenFunction memalign = {.kind = HAWK_CALL_ALIGNED_ALLOC};
  EXPECT_EQ(plan_of_pvalloc("pages_of_plain", "plain", malloc).fallback, "");
  constexpr const char* kOther = "it goes on in another allocating function, which is asked for something else";
  EXPECT_EQ(plan_of_pvalloc("pages_of_plain", "plain", valloc).fallback, kOther);
  EXPECT_EQ(plan_of_pvalloc("pages_of_aligned", "aligned", memalign).fallback, kOther);
  EXPECT_EQ(plan_of_pvalloc("passes_on", "aligned", memalign).fallback, "");
}

TEST(YieldPoints, WhatWritesBesideItsOperandLeavesNoSizeOnTheStack) {
  const YieldPlan plan = plan_of("size_on_stack");
  EXPECT_EQ(plan.fallback, "");
  ASSERT_EQ(plan.points.size(), 1u);
  EXPECT_EQ(plan.points[0].kind, PointKind::kYield);
  EXPECT_EQ(plan.points[0].size, (Operand{Operand::Kind::kStack, 1}));
  for (const char* name : {"popped_over", "bit_set", "shown_above"}) {
    for (const YieldPoint& point : plan_of(name).points) EXPECT_NE(point.kind, PointKind::kYield) << name;
  }
}

/// The handler of a trap returns, unlike what ends a program.
TEST(YieldPoints, ATrapIsNoEnd) {
  const YieldPlan plan = plan_of("trapped");
  EXPECT_EQ(plan.fallback, "");
  EXPECT_EQ(plan.points.size(), 2u);
}

TEST(YieldPoints, ArgumentsOnTheStackAreTheCallees) {
  for (const char* name : {"size_is_read", "size_above_what_is_read"}) {
    const YieldPlan plan = plan_of(name);
    EXPECT_EQ(plan.fallback, "") << name;
    ASSERT_EQ(plan.points.size(), 1u) << name;
    EXPECT_EQ(plan.points[0].kind, PointKind::kYield) << name;
    EXPECT_EQ(plan.points[0].size.kind, Operand::Kind::kStack) << name;
  }
  for (const YieldPoint& point : plan_of("size_is_argument").points) EXPECT_NE(point.kind, PointKind::kYield);
}

TEST(YieldPoints, WhatLooksLikeAJumpInTheMiddleOfAnInstructionIsNone) {
  EXPECT_EQ(plan_of("seemingly_entered").fallback, "");
}

TEST(YieldPoints, ABlockIsSeenBeforeItIsCleared) {
  for (const char* name : {"clears_last", "clears_before"}) {
    const YieldPlan plan = plan_of(name);
    EXPECT_EQ(plan.fallback, "") << name;
    ASSERT_EQ(plan.points.size(), 1u) << name;
    EXPECT_EQ(plan.points[0].kind, PointKind::kYield) << name;
    EXPECT_EQ(plan.points[0].result, (Operand{Operand::Kind::kRegister, 0})) << name;
    EXPECT_EQ(plan.points[0].size, (Operand{Operand::Kind::kRegister, HAWK_RDI})) << name;
  }
}

TEST(YieldPoints, WhereAnExceptionLeadsIsSeen) {
  EXPECT_EQ(plan_of("catches").fallback, "every call would run into several points");
  const ElfImage image = testing::open_image(testing::fixture_path("yield_points.so"));
  const std::uint64_t handler = testing::extent_of(image, "handler").vaddr;
  const YieldPlan plan = plan_of("catches", true);
  EXPECT_EQ(plan.fallback, "");
  EXPECT_TRUE(std::any_of(plan.points.begin(), plan.points.end(), [&](const YieldPoint& point) {
    return point.vaddr > handler && point.kind != PointKind::kSize;
  }));
}

/// Points of libc's malloc that open its calls.
std::ptrdiff_t opening_points_of_malloc(Plans plans) {
  const AllocatorFile file =
      find_allocator_functions(testing::open_image("/usr/lib/x86_64-linux-gnu/libc.so.6"), plans);
  const auto is_malloc = [](const AllocatorFunction& function) {
    return std::find(function.names.begin(), function.names.end(), "malloc") != function.names.end();
  };
  const auto found = std::find_if(file.functions.begin(), file.functions.end(), is_malloc);
  if (found == file.functions.end()) return -1;
  EXPECT_EQ(found->yields.fallback, "");
  return std::count_if(found->yields.points.begin(), found->yields.points.end(),
                       [](const YieldPoint& point) { return point.kind == PointKind::kSize; });
}

TEST(YieldPoints, OpenACallThatMayMapMemoryOnlyWhereThatIsOfInterest) {
  EXPECT_GE(opening_points_of_malloc(Plans::kMade), 0);
  EXPECT_GT(opening_points_of_malloc(Plans::kMadeForMappings), opening_points_of_malloc(Plans::kMade));
}

}  // namespace
}  // namespace hawk
