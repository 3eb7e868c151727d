#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/elf_fixture.h"
#include "userspace/code/allocator_functions.h"
#include "userspace/code/arch/x86_64/instruction.h"
#include "userspace/code/probe_placement.h"
#include "userspace/code/yield_points.h"

namespace hawk {
namespace {

constexpr std::uint8_t kR8 = 8;
constexpr std::uint8_t kR9 = 9;

ElfImage fixture() { return testing::open_image(testing::fixture_path("free_lists.so")); }

YieldPlan plan_of(const std::string& name) {
  const ElfImage image = fixture();
  BranchTargets resolver(image);
  CodeScan scan(image, resolver.exceptions());
  YieldPlanner planner(resolver, scan, Plans::kMade, [](std::uint64_t) { return std::nullopt; });
  const FunctionExtent function = testing::extent_of(image, name);
  return planner.plan(function, {.kind = HAWK_CALL_MALLOC, .arguments = kPassedInOrder},
                      place_probe(resolver, function, HAWK_CALL_MALLOC).vaddr);
}

std::vector<YieldPoint> points_ahead(const YieldPlan& plan) {
  std::vector<YieldPoint> points;
  std::copy_if(plan.points.begin(), plan.points.end(), std::back_inserter(points),
               [](const YieldPoint& point) { return point.kind == PointKind::kYieldAhead; });
  return points;
}

/// The only address that a function loads.
std::uint64_t classes_vaddr() {
  const ElfImage image = fixture();
  const FunctionExtent function = testing::extent_of(image, "plain");
  for (std::uint64_t vaddr = function.vaddr; vaddr < function.vaddr + function.size_bytes;) {
    const std::optional<Instruction> found = decode_at(image, vaddr);
    if (!found) break;
    vaddr = found->next_vaddr();
    if (found->decoded.mnemonic == ZYDIS_MNEMONIC_LEA)
      return vaddr + static_cast<std::uint64_t>(found->operands[1].mem.disp.value);
  }
  ADD_FAILURE() << "plain has no table";
  return 0;
}

/// Of a function of the fixture that looks into its table of classes.
FreeList list_with(std::uint8_t lists, std::uint8_t list_shift, std::int32_t head, std::uint32_t added = 7,
                   std::uint8_t shift = 3) {
  return {.lists = lists,
          .list_shift = list_shift,
          .head = head,
          .classes_vaddr = classes_vaddr(),
          .size_added = added,
          .size_shift = shift};
}

struct Taken {
  std::string name;
  FreeList list;
};

TEST(FreeLists, TheFirstBlockIsKnownWhereTheSizeIs) {
  const std::vector<Taken> all = {{"plain", list_with(kR8, 5, 0)},
                                  {"in_one_address", list_with(kR8, 3, 16)},
                                  {"copied", list_with(kR9, 5, 8)},
                                  {"moved", list_with(kR9, 5, -24)},
                                  {"rounded_apart", list_with(kR8, 5, 0, 15, 4)},
                                  {"size_kept", list_with(kR8, 5, 0)}};
  for (const Taken& taken : all) {
    const YieldPlan plan = plan_of(taken.name);
    EXPECT_EQ(plan.fallback, "") << taken.name;
    const std::vector<YieldPoint> points = points_ahead(plan);
    ASSERT_EQ(points.size(), 1u) << taken.name;
    EXPECT_EQ(points[0].ahead, taken.list) << taken.name;
    EXPECT_EQ(points[0].size, (Operand{Operand::Kind::kRegister, HAWK_RDI})) << taken.name;
    EXPECT_EQ(points[0].condition, 6) << taken.name << ": size <= 1024";
    EXPECT_EQ(points[0].slot_words, 0u) << taken.name;
  }
}

TEST(FreeLists, EachWayHasItsPoint) {
  const std::vector<YieldPoint> points = points_ahead(plan_of("two_ways"));
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[0].ahead, list_with(kR8, 5, 0));
  EXPECT_EQ(points[1].ahead, list_with(kR8, 5, 0, 0x3c7f, 7));
}

/// What is certain about one of them is so as long as nothing else happens before the block is taken.
TEST(FreeLists, WhatComesInBetweenIsNoSuchWay) {
  for (const char* name : {"stores_before", "pushes_before", "locks_before", "calls_before", "waits_before",
                           "moves_stack_before", "far_behind"})
    EXPECT_TRUE(points_ahead(plan_of(name)).empty()) << name;
}

TEST(FreeLists, AListThatMayBeOthersIsNone) {
  for (const char* name :
       {"keeps", "stores_elsewhere_first", "stores_beside", "stores_half", "exchanges", "moves_list_before_store"})
    EXPECT_TRUE(points_ahead(plan_of(name)).empty()) << name;
}

TEST(FreeLists, WhatCannotBeComputedAheadIsNone) {
  for (const char* name :
       {"of_another_base", "in_segment", "half_loaded", "sixteen_bits", "signed_class", "changed_class",
        "rounded_in_64_bits", "rounded_twice", "of_another_size", "shifted_too_far", "block_changed"})
    EXPECT_TRUE(points_ahead(plan_of(name)).empty()) << name;
}

TEST(FreeLists, NoOtherPathMayComeBy) { EXPECT_TRUE(points_ahead(plan_of("entered_beside")).empty()); }

/// Where a function has no such point it has none that would be wrong.
TEST(FreeLists, TheOthersHaveNoPlan) {
  for (const char* name : {"stores_before", "keeps", "of_another_base", "entered_beside"})
    EXPECT_EQ(plan_of(name).fallback, "every call would run into several points") << name;
}

}  // namespace
}  // namespace hawk
