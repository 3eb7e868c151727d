#include "userspace/code/probe_placement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <ostream>
#include <span>
#include <string>

#include "tests/support/elf_fixture.h"
#include "userspace/code/allocator_functions.h"

namespace hawk {
namespace {

/// Where the probe of a fixture function should go.
struct Expected {
  std::string function;
  hawk_call_kind kind;
  std::uint64_t offset;  ///< from the entry
  std::string instruction;
  bool single_stepped;
};

void PrintTo(const Expected& expected, std::ostream* out) { *out << expected.function << " kind " << expected.kind; }

class ProbePlacement : public ::testing::TestWithParam<Expected> {};

TEST_P(ProbePlacement, FollowsTheRule) {
  const ElfImage image = testing::open_image(testing::fixture_path("placement.so"));
  const FunctionExtent function = testing::extent_of(image, GetParam().function);
  BranchTargets resolver(image);
  const ProbePoint place = place_probe(resolver, function, GetParam().kind);
  EXPECT_EQ(place.vaddr - function.vaddr, GetParam().offset);
  EXPECT_EQ(place.instruction, GetParam().instruction);
  EXPECT_EQ(place.single_stepped, GetParam().single_stepped);
}

INSTANTIATE_TEST_SUITE_P(Emulated, ProbePlacement,
                         ::testing::Values(Expected{"push_first", HAWK_CALL_MALLOC, 0, "push", false},
                                           Expected{"endbr_then_push", HAWK_CALL_MALLOC, 4, "push", false},
                                           Expected{"compare_then_branch", HAWK_CALL_MALLOC, 7, "jnbe", false},
                                           Expected{"near_branch", HAWK_CALL_MALLOC, 7, "jnbe", false},
                                           Expected{"long_nop_first", HAWK_CALL_MALLOC, 5, "push", false},
                                           Expected{"prefixed_nop", HAWK_CALL_MALLOC, 2, "nop", false},
                                           Expected{"call_first", HAWK_CALL_MALLOC, 3, "call", false},
                                           Expected{"jump_first", HAWK_CALL_MALLOC, 0, "jmp", false}));

INSTANTIATE_TEST_SUITE_P(Kept, ProbePlacement,
                         ::testing::Values(Expected{"writes_first_argument", HAWK_CALL_MALLOC, 0, "mov", true},
                                           Expected{"writes_part_of_argument", HAWK_CALL_MALLOC, 0, "mov", true},
                                           // The second argument matters to kinds that have one.
                                           Expected{"writes_second_argument", HAWK_CALL_CALLOC, 0, "mov", true},
                                           Expected{"writes_second_argument", HAWK_CALL_MALLOC, 2, "push", false},
                                           Expected{"writes_argument_silently", HAWK_CALL_REALLOCARRAY, 0, "mov", true},
                                           Expected{"writes_argument_silently", HAWK_CALL_POSIX_MEMALIGN, 0, "mov",
                                                    true},
                                           Expected{"writes_argument_silently", HAWK_CALL_REALLOC, 6, "push", false},
                                           Expected{"moves_stack", HAWK_CALL_MALLOC, 0, "sub", true},
                                           Expected{"changes_frame_pointer", HAWK_CALL_MALLOC, 0, "lea", true}));

// The argument that a kind does not read may be lost.
INSTANTIATE_TEST_SUITE_P(Copies, ProbePlacement,
                         ::testing::Values(Expected{"first_argument_moves", HAWK_CALL_MALLOC, 20, "jnbe", false},
                                           Expected{"first_argument_moves", HAWK_CALL_REALLOC, 0, "mov", true},
                                           Expected{"arguments_swap", HAWK_CALL_CALLOC, 9, "jmp", false},
                                           Expected{"copy_of_a_copy", HAWK_CALL_POSIX_MEMALIGN, 11, "push", false},
                                           Expected{"copy_is_lost", HAWK_CALL_MALLOC, 0, "mov", true},
                                           Expected{"copy_is_lost", HAWK_CALL_ALIGNED_ALLOC, 8, "push", false},
                                           Expected{"half_a_copy", HAWK_CALL_MALLOC, 0, "mov", true},
                                           Expected{"copy_in_memory", HAWK_CALL_MALLOC, 0, "mov", true}));

std::array<std::uint8_t, 3> arguments_at_probe(const std::string& name, hawk_call_kind kind) {
  const ElfImage image = testing::open_image(testing::fixture_path("placement.so"));
  BranchTargets resolver(image);
  return place_probe(resolver, testing::extent_of(image, name), kind).arguments;
}

TEST(ProbeArguments, AreNamedByTheRegistersThatHoldThem) {
  using Registers = std::array<std::uint8_t, 3>;
  constexpr std::uint8_t kRax = 0;
  constexpr std::uint8_t kR8 = 8;
  EXPECT_EQ(arguments_at_probe("push_first", HAWK_CALL_CALLOC), (Registers{HAWK_RDI, HAWK_RSI, HAWK_RDX}));
  EXPECT_EQ(arguments_at_probe("compare_then_branch", HAWK_CALL_MALLOC), (Registers{HAWK_RDI, HAWK_RSI, HAWK_RDX}));
  EXPECT_EQ(arguments_at_probe("first_argument_moves", HAWK_CALL_MALLOC), (Registers{HAWK_RSI, HAWK_RSI, HAWK_RDX}));
  EXPECT_EQ(arguments_at_probe("arguments_swap", HAWK_CALL_CALLOC), (Registers{kRax, HAWK_RDI, HAWK_RDX}));
  EXPECT_EQ(arguments_at_probe("copy_of_a_copy", HAWK_CALL_POSIX_MEMALIGN), (Registers{HAWK_RDI, HAWK_RSI, kR8}));
  // The first argument is not asked for, and the entry has all of them.
  EXPECT_EQ(arguments_at_probe("copy_is_lost", HAWK_CALL_ALIGNED_ALLOC), (Registers{HAWK_RDI, HAWK_RSI, HAWK_RDX}));
  EXPECT_EQ(arguments_at_probe("copy_is_lost", HAWK_CALL_MALLOC), (Registers{HAWK_RDI, HAWK_RSI, HAWK_RDX}));
}

INSTANTIATE_TEST_SUITE_P(NotThere, ProbePlacement,
                         ::testing::Values(Expected{"push_rsp_is_not_emulated", HAWK_CALL_MALLOC, 0, "mov", true},
                                           Expected{"push_memory_is_not_emulated", HAWK_CALL_MALLOC, 0, "push", true},
                                           Expected{"bnd_jump", HAWK_CALL_MALLOC, 0, "jmp", true},
                                           Expected{"loop_to_push", HAWK_CALL_MALLOC, 0, "mov", true},
                                           Expected{"loop_from_cold_part", HAWK_CALL_MALLOC, 0, "mov", true},
                                           Expected{"jump_table", HAWK_CALL_MALLOC, 0, "mov", true},
                                           Expected{"too_far", HAWK_CALL_MALLOC, 0, "mov", true},
                                           Expected{"no_candidate", HAWK_CALL_MALLOC, 0, "mov", true}));

INSTANTIATE_TEST_SUITE_P(Free, ProbePlacement,
                         ::testing::Values(Expected{"free_null_then_push", HAWK_CALL_FREE, 5, "push", false},
                                           // realloc(NULL) is a call like any other.
                                           Expected{"free_null_then_push", HAWK_CALL_REALLOC, 3, "jz", false},
                                           Expected{"free_null_then_push_endbr", HAWK_CALL_FREE, 9, "push", false},
                                           Expected{"free_null_then_mov", HAWK_CALL_FREE, 3, "jz", false},
                                           Expected{"free_null_loop", HAWK_CALL_FREE, 3, "jz", false},
                                           Expected{"free_other_test", HAWK_CALL_FREE, 3, "jz", false},
                                           Expected{"free_writes_first", HAWK_CALL_FREE, 0, "mov", true},
                                           Expected{"free_writes_first", HAWK_CALL_MALLOC, 3, "push", false}));

/// Where compilers put endbr64 first, no probe may be left on it.
TEST(ProbePlacementCet, EndbrIsPassed) {
  const ElfImage image = testing::open_image(testing::fixture_path("cet_allocator.so"));
  const AllocatorFile file = find_allocator_functions(image);
  ASSERT_EQ(file.functions.size(), 4u);
  for (const AllocatorFunction& function : file.functions) {
    const std::string& name = function.names.front();
    const std::span<const std::uint8_t> code = image.code_at(*image.vaddr_of(function.entry_offset), 4);
    ASSERT_TRUE(std::equal(code.begin(), code.end(), std::array{0xf3, 0x0f, 0x1e, 0xfa}.begin())) << name;
    EXPECT_FALSE(function.single_stepped) << name << ": " << function.instruction;
    EXPECT_GE(function.probe_offset - function.entry_offset, 4u) << name;
  }
}

}  // namespace
}  // namespace hawk
