#include "userspace/code/return_points.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "tests/support/elf_fixture.h"
#include "userspace/code/arch/x86_64/instruction.h"
#include "userspace/code/probe_placement.h"

namespace hawk {
namespace {

constexpr std::uint8_t kRbx = 3;
constexpr std::uint8_t kRbp = 5;
constexpr std::uint8_t kR9 = 9;
constexpr std::uint8_t kR11 = 11;
/// Low bits of opcodes: of jne, and so on.
constexpr std::uint8_t kNotEqual = 5;
constexpr std::uint8_t kGreater = 15;

struct Fixture {
  explicit Fixture(const std::string& file) : image(testing::open_image(testing::fixture_path(file))) {}

  ReturnProbes probes(const std::string& name) {
    const FunctionExtent function = testing::extent_of(image, name);
    WalkOptions options;
    options.record_steps = true;
    const FunctionWalk walk = walk_function(resolver, function, options);
    EXPECT_TRUE(walk.incomplete.empty()) << walk.incomplete;
    EXPECT_FALSE(walk.returns.empty());
    return place_returns(resolver, function, walk, place_probe(resolver, function, HAWK_CALL_MALLOC).vaddr);
  }

  ElfImage image;
  BranchTargets resolver{image};
};

/// A point by its distance from the function's entry.
struct ExpectedPoint {
  std::uint64_t offset;
  std::string mnemonic;
  ReturnPoint point;  ///< but for its address
};

struct Expected {
  std::string function;
  std::vector<ExpectedPoint> points;
  std::size_t hidden;  ///< `ret` instructions that need no probe
  std::size_t rets;    ///< those that do
};

void PrintTo(const Expected& expected, std::ostream* out) { *out << expected.function; }

class ReturnPoints : public ::testing::TestWithParam<Expected> {};

TEST_P(ReturnPoints, AreWhereNothingElseCanHappen) {
  Fixture fixture("return_points.so");
  const std::uint64_t entry = testing::extent_of(fixture.image, GetParam().function).vaddr;
  const ReturnProbes probes = fixture.probes(GetParam().function);
  EXPECT_EQ(probes.hidden.size(), GetParam().hidden);
  EXPECT_EQ(probes.rets.size(), GetParam().rets);
  ASSERT_EQ(probes.points.size(), GetParam().points.size());
  for (std::size_t i = 0; i < probes.points.size(); ++i) {
    ExpectedPoint expected = GetParam().points[i];
    expected.point.vaddr = entry + expected.offset;
    EXPECT_EQ(probes.points[i].vaddr - entry, expected.offset);
    EXPECT_EQ(probes.points[i], expected.point) << "point " << i;
    const std::optional<Instruction> instruction = decode_at(fixture.image, probes.points[i].vaddr);
    ASSERT_TRUE(instruction);
    EXPECT_EQ(instruction->mnemonic(), expected.mnemonic);
    EXPECT_TRUE(instruction->is_emulated_by_kernel());
  }
}

ReturnPoint point(std::optional<std::uint8_t> condition, std::uint8_t result, std::uint32_t slot_words,
                  std::optional<std::uint32_t> saved_rbp_words = std::nullopt) {
  return {.vaddr = 0,
          .condition = condition,
          .result_register = result,
          .slot_words = slot_words,
          .saved_rbp_words = saved_rbp_words};
}

INSTANTIATE_TEST_SUITE_P(
    Found, ReturnPoints,
    ::testing::Values(
        // The ret of `elsewhere` is outside, here and below.
        Expected{"branch_either_way", {{16, "jb", point(std::nullopt, kR9, 0)}}, 1, 1},
        Expected{"two_ways", {{8, "jz", point(kNotEqual, kR11, 0)}, {28, "jmp", point(std::nullopt, kR11, 0)}}, 1, 1},
        Expected{"saved_frame_pointer",
                 {{15, "jle", point(kGreater, kRbp, 3, 2)}, {38, "jnz", point(kNotEqual, kRbp, 3, 2)}},
                 1,
                 0},
        Expected{"three_words_up", {{16, "nop", point(std::nullopt, kRbx, 3)}}, 1, 0},
        // Not the branch before it, from which there is a way to a throw.
        Expected{"one_way_throws", {{13, "jz", point(kNotEqual, kR9, 0)}}, 1, 1},
        Expected{"loop_with_a_call",
                 {{7, "jz", point(kNotEqual, kRbx, 1)}, {23, "jmp", point(std::nullopt, kRbx, 1)}},
                 1,
                 0}));

Expected none(const std::string& function, std::size_t rets) { return {function, {}, 0, rets}; }

INSTANTIATE_TEST_SUITE_P(
    NotFound, ReturnPoints,
    ::testing::Values(none("call_after", 1), none("only_call_after", 1), none("joined_without_a_point", 1),
                      none("loop_through", 1), none("register_overwritten", 2), none("half_overwritten", 2),
                      none("different_registers", 2), none("unknown_stack", 2), none("odd_stack", 2),
                      none("lost_frame_pointer", 2), none("no_choice", 1), none("point_before_entry_probe", 1),
                      none("entered_from_outside", 1), none("system_call_after", 2), none("pops_arguments", 2),
                      none("single_stepped_branch", 2), none("handles_exceptions", 2), none("not_in_the_table", 2)));

TEST(ReturnPointsOfFile, NoneWhereSequencesMayBeRestarted) {
  EXPECT_FALSE(Fixture("return_points.so").probes("two_ways").points.empty());
  const ReturnProbes probes = Fixture("return_points_rseq.so").probes("two_ways");
  EXPECT_TRUE(probes.points.empty());
  EXPECT_TRUE(probes.hidden.empty());
  EXPECT_EQ(probes.rets.size(), 2u);
}

TEST(ReturnPointsOfFile, GivingUpBringsAllReturnsBack) {
  Fixture fixture("return_points.so");
  ReturnProbes probes = fixture.probes("two_ways");
  ASSERT_EQ(probes.rets.size(), 1u);
  probes.give_up_points();
  EXPECT_TRUE(probes.points.empty());
  EXPECT_TRUE(probes.hidden.empty());
  ASSERT_EQ(probes.rets.size(), 2u);
  EXPECT_LT(probes.rets[0], probes.rets[1]);
}

}  // namespace
}  // namespace hawk
