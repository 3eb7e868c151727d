// What counts as a breakpoint in the programs' last look at the target's code.
#include "bpf/probe_points.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <iterator>

namespace hawk {
namespace {

using Bytes = std::array<__u8, HAWK_POINT_BYTES>;

void set_words(__u64 (&words)[HAWK_POINT_WORDS], const Bytes& bytes) {
  std::memcpy(std::data(words), bytes.data(), bytes.size());
}

/// `code`, of which the byte with that number is probed.
hawk_probe_point point(const Bytes& code, std::size_t probed_byte) {
  constexpr __u8 kMarked = 0x80;
  Bytes before = {}, probed = {};
  std::fill_n(before.begin(), probed_byte, kMarked);
  probed[probed_byte] = kMarked;
  hawk_probe_point there = {};
  set_words(there.code, code);
  set_words(there.before, before);
  set_words(there.probed, probed);
  there.bytes = static_cast<__u32>(probed_byte + 1);
  return there;
}

/// mov %rdi, %rax; push %rbx, which is probed.
hawk_probe_point point() { return point({0x48, 0x89, 0xf8, 0x53}, 3); }

bool has_breakpoint(const hawk_probe_point& there, const Bytes& memory) {
  __u64 words[HAWK_POINT_WORDS];
  set_words(words, memory);
  return hawk_point_has_breakpoint(&there, words) != 0;
}

TEST(ProbePoints, ABreakpointBehindTheFilesCode) {
  EXPECT_TRUE(has_breakpoint(point(), {0x48, 0x89, 0xf8, 0xcc}));
  EXPECT_TRUE(has_breakpoint(point(), {0xcc, 0x89, 0xf8, 0xcc})) << "another tracer's besides";
}

TEST(ProbePoints, NoneInTheFilesCode) { EXPECT_FALSE(has_breakpoint(point(), {0x48, 0x89, 0xf8, 0x53})); }

TEST(ProbePoints, NoneThatIsReachedThroughOtherCode) {
  EXPECT_FALSE(has_breakpoint(point(), {0xe9, 0x89, 0xf8, 0xcc})) << "a jump at the function's entry";
}

TEST(ProbePoints, ACallInPlaceOfALongNop) {
  hawk_probe_point nop = point({0x0f}, 0);
  nop.may_be_call = 1;
  EXPECT_TRUE(has_breakpoint(nop, {0xe8}));
  EXPECT_TRUE(has_breakpoint(nop, {0xcc}));
  EXPECT_FALSE(has_breakpoint(nop, {0x0f}));
}

TEST(ProbePoints, TheLastByteThereIsRoomFor) {
  Bytes memory = {0x48, 0x89, 0xf8, 0x53};
  memory[HAWK_POINT_BYTES - 1] = 0x55;
  const hawk_probe_point far = point(memory, HAWK_POINT_BYTES - 1);
  EXPECT_FALSE(has_breakpoint(far, memory));
  memory[HAWK_POINT_BYTES - 1] = 0xcc;
  EXPECT_TRUE(has_breakpoint(far, memory));
}

}  // namespace
}  // namespace hawk
