#include "userspace/code/free_placement.h"

#include <gtest/gtest.h>

#include <optional>
#include <ostream>
#include <string>

#include "tests/support/elf_fixture.h"
#include "userspace/code/allocator_functions.h"

namespace hawk {
namespace {

constexpr std::uint8_t kRbx = 3;

ProbePoint place(const std::string& name, const std::string& fixture = "free_points.so") {
  const ElfImage image = testing::open_image(testing::fixture_path(fixture));
  BranchTargets resolver(image);
  CodeScan scan(image, resolver.exceptions());
  FunctionExtent function = testing::extent_of(image, name);
  ProbePoint point = place_free_probe(resolver, scan, function);
  point.vaddr -= function.vaddr;
  return point;
}

struct Found {
  std::string function;
  std::uint64_t offset;  ///< from the entry
  std::string instruction;
  std::uint32_t slot_words;
  std::optional<std::uint32_t> saved_rbp_words;
};

void PrintTo(const Found& found, std::ostream* out) { *out << found.function; }

class FreePlacement : public ::testing::TestWithParam<Found> {};

TEST_P(FreePlacement, PassesWhatIsHarmless) {
  const ProbePoint point = place(GetParam().function);
  EXPECT_EQ(point.vaddr, GetParam().offset);
  EXPECT_EQ(point.instruction, GetParam().instruction);
  EXPECT_FALSE(point.single_stepped);
  EXPECT_EQ(point.frame.slot_words, GetParam().slot_words);
  EXPECT_EQ(point.frame.saved_rbp_words, GetParam().saved_rbp_words);
}

INSTANTIATE_TEST_SUITE_P(Fixture, FreePlacement,
                         ::testing::Values(Found{"as_glibc", 35, "jnz", 5, 4},
                                           Found{"pushes_first", 8, "jz", 1, std::nullopt},
                                           Found{"keeps_rbp", 5, "jz", 1, std::nullopt},
                                           Found{"spills", 25, "jz", 5, 4}, Found{"moves_rbp_to_frame", 16, "jz", 4, 2},
                                           Found{"only_a_push", 4, "push", 1, std::nullopt},
                                           Found{"argument_moves", 9, "jz", 1, std::nullopt}));

TEST(FreeArgument, IsNamedByTheRegisterThatHoldsIt) {
  EXPECT_EQ(place("as_glibc").arguments[0], HAWK_RDI);
  EXPECT_EQ(place("argument_moves").arguments[0], kRbx);
}

/// What the probe of a free had before, and has where a rule is broken.
void expect_early(const ProbePoint& point, std::uint64_t offset) {
  EXPECT_EQ(point.vaddr, offset);
  EXPECT_EQ(point.frame, CallerFrame());
  EXPECT_EQ(point.arguments[0], HAWK_RDI);
}

class FreeMutant : public ::testing::TestWithParam<const char*> {};

TEST_P(FreeMutant, StaysAtThePush) {
  const ProbePoint point = place(GetParam());
  expect_early(point, 9);
  EXPECT_EQ(point.instruction, "push");
}

INSTANTIATE_TEST_SUITE_P(Stores, FreeMutant,
                         ::testing::Values("stores_to_block", "stores_elsewhere", "stores_through_another_register",
                                           "stores_to_thread", "stores_to_thread_by_rsp", "stores_to_return_address",
                                           "stores_to_callers_frame", "stores_over_saved_rbp",
                                           "stores_partly_over_saved_rbp", "stores_by_index", "adds_to_frame",
                                           "exchanges", "exchanges_with_block", "adds_with_lock", "copies_string"));

INSTANTIATE_TEST_SUITE_P(Goes, FreeMutant,
                         ::testing::Values("calls", "calls_indirectly", "system_call", "traps", "reads_time",
                                           "is_too_far"));

INSTANTIATE_TEST_SUITE_P(LosesArgument, FreeMutant, ::testing::Values("loses_block", "loses_part_of_block"));

INSTANTIATE_TEST_SUITE_P(LosesFrame, FreeMutant,
                         ::testing::Values("aligns_stack", "makes_room_by_register", "makes_odd_room",
                                           "makes_too_much_room", "pops", "leaves", "pushes_flags"));

INSTANTIATE_TEST_SUITE_P(IsEntered, FreeMutant,
                         ::testing::Values("loops", "loops_from_cold_part", "cold_part_goes_anywhere",
                                           "called_from_cold_part", "handles_exceptions_inside", "is_bypassed",
                                           "entered_from_dead_code", "calls_itself_inside", "entered_by_other",
                                           "entered_from_near_by", "has_another_inside", "has_no_size"));

/// Behind code of which it is not known where it leads nothing is looked for.
TEST(FreePlacement, WithoutKnowingTheWayThereIsNone) { expect_early(place("goes_anywhere"), 0); }

TEST(FreePlacement, WithoutTheCallersRbpThereIsNone) {
  expect_early(place("loses_rbp"), 0);
  expect_early(place("saves_changed_rbp"), 0);
}

TEST(FreePlacement, ACallIsNone) { EXPECT_NE(place("only_a_call").instruction, "call"); }

/// Their abort handlers lead back to where nobody knows.
TEST(FreePlacement, WithRestartableSequencesThereIsNone) { expect_early(place("as_glibc", "free_points_rseq.so"), 9); }

AllocatorFunction free_of(const std::string& fixture) {
  const AllocatorFile file = find_allocator_functions(testing::open_image(testing::fixture_path(fixture)));
  for (const AllocatorFunction& function : file.functions) {
    if (function.names.front() == "free") return function;
  }
  ADD_FAILURE() << fixture << " has no free";
  return {};
}

/// A name of the catalogue that is not public stands in its middle.
TEST(FreePlacement, InTheMiddleOfAFunctionAnotherMayBegin) {
  EXPECT_EQ(free_of("free_alone.so").instruction, "jz");
  EXPECT_EQ(free_of("free_with_another.so").instruction, "push");
}

}  // namespace
}  // namespace hawk
