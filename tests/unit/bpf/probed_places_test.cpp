// What counts as a breakpoint in the programs' last look at the target's code.
#include "bpf/probed_places.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace hawk {
namespace {

using Bytes = std::array<__u8, HAWK_PLACE_BYTES>;

/// mov %rdi, %rax; push %rbx, which is probed.
hawk_probed_place place() {
  hawk_probed_place there = {};
  const Bytes code = {0x48, 0x89, 0xf8, 0x53};
  std::copy(code.begin(), code.end(), std::begin(there.code));
  there.probe_at = 3;
  return there;
}

bool has_breakpoint(const hawk_probed_place& there, const Bytes& memory) {
  return hawk_place_has_breakpoint(&there, memory.data()) != 0;
}

TEST(ProbedPlaces, ABreakpointBehindTheFilesCode) {
  EXPECT_TRUE(has_breakpoint(place(), {0x48, 0x89, 0xf8, 0xcc}));
  EXPECT_TRUE(has_breakpoint(place(), {0xcc, 0x89, 0xf8, 0xcc})) << "somebody else's besides";
}

TEST(ProbedPlaces, NoneInTheFilesCode) { EXPECT_FALSE(has_breakpoint(place(), {0x48, 0x89, 0xf8, 0x53})); }

TEST(ProbedPlaces, NoneThatIsReachedThroughOtherCode) {
  EXPECT_FALSE(has_breakpoint(place(), {0xe9, 0x89, 0xf8, 0xcc})) << "a jump at the function's entry";
}

TEST(ProbedPlaces, ACallInPlaceOfALongNop) {
  hawk_probed_place nop = {};
  nop.code[0] = 0x0f;
  nop.may_be_call = 1;
  EXPECT_TRUE(has_breakpoint(nop, {0xe8}));
  EXPECT_TRUE(has_breakpoint(nop, {0xcc}));
  EXPECT_FALSE(has_breakpoint(nop, {0x0f}));
}

TEST(ProbedPlaces, TheLastByteThereIsRoomFor) {
  hawk_probed_place far = place();
  far.code[HAWK_PLACE_BYTES - 1] = 0x55;
  far.probe_at = HAWK_PLACE_BYTES - 1;
  Bytes memory = {0x48, 0x89, 0xf8, 0x53};
  EXPECT_FALSE(has_breakpoint(far, memory));
  memory[HAWK_PLACE_BYTES - 1] = 0xcc;
  EXPECT_TRUE(has_breakpoint(far, memory));
}

}  // namespace
}  // namespace hawk
