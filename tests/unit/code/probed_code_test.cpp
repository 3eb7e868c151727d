#include "userspace/code/probed_code.h"

#include <gtest/gtest.h>

#include "bpf/probe_points.h"
#include "tests/support/elf_fixture.h"

namespace hawk {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// push r12; push rbp; the probe is on the second.
const ProbedCode kPush{.function = "malloc",
                       .role = CodeRole::kProbed,
                       .file_offset = 0x1000,
                       .probe_at = 2,
                       .bytes = {0x41, 0x54, 0x55, 0x48, 0x89, 0xfd}};
/// nopl 0(rax, rax), the probe on it.
const ProbedCode kNop{.function = "malloc",
                      .role = CodeRole::kProbed,
                      .file_offset = 0x1000,
                      .probe_at = 0,
                      .bytes = {0x0f, 0x1f, 0x44, 0x00, 0x00, 0x55, 0x48, 0x89, 0xe5, 0x90}};

TEST(probed_code, breakpoint_over_the_probed_instruction) {
  const Bytes placed = {0x41, 0x54, 0xcc, 0x48, 0x89, 0xfd};
  EXPECT_TRUE(has_breakpoint(kPush, placed));
  EXPECT_FALSE(is_other_code(kPush, placed));
}

TEST(probed_code, no_breakpoint) {
  EXPECT_FALSE(has_breakpoint(kPush, kPush.bytes));
  EXPECT_FALSE(is_other_code(kPush, kPush.bytes));
}

/// Another tracer's, an instruction before: calls go on from there.
TEST(probed_code, two_breakpoints) {
  const Bytes placed = {0xcc, 0x54, 0xcc, 0x48, 0x89, 0xfd};
  EXPECT_TRUE(has_breakpoint(kPush, placed));
  EXPECT_FALSE(is_other_code(kPush, placed));
}

TEST(probed_code, jump_before_the_breakpoint) {
  const Bytes hooked = {0xeb, 0x10, 0xcc, 0x48, 0x89, 0xfd};
  EXPECT_FALSE(has_breakpoint(kPush, hooked));
  EXPECT_TRUE(is_other_code(kPush, hooked));
}

TEST(probed_code, jump_over_the_probed_instruction) {
  const Bytes hooked = {0x41, 0x54, 0xe9, 0x01, 0x02, 0x03};
  EXPECT_FALSE(has_breakpoint(kPush, hooked));
  EXPECT_TRUE(is_other_code(kPush, hooked));
  EXPECT_FALSE(call_over_nop(kPush, hooked, 0x5000));
}

/// As Linux 6.18 does it. Whether it is the kernel's shows in where it leads.
TEST(probed_code, call_over_a_nop) {
  const Bytes called = {0xe8, 0xfb, 0x0f, 0x00, 0x00, 0x55, 0x48, 0x89, 0xe5, 0x90};
  EXPECT_FALSE(has_breakpoint(kNop, called));
  EXPECT_FALSE(is_other_code(kNop, called));
  EXPECT_EQ(call_over_nop(kNop, called, 0x5000), 0x6000u);
  EXPECT_FALSE(call_over_nop(kNop, kNop.bytes, 0x5000));
}

/// lea rsp, [rsp - 128]; call
TEST(probed_code, call_over_a_nop_of_ten_bytes) {
  const ProbedCode nop{.function = "malloc",
                       .role = CodeRole::kProbed,
                       .file_offset = 0,
                       .probe_at = 0,
                       .bytes = {0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00}};
  const Bytes called = {0x48, 0x8d, 0x64, 0x24, 0x80, 0xe8, 0xf6, 0xff, 0xff, 0xff};
  EXPECT_EQ(call_over_nop(nop, called, 0x5000), 0x5000u);
}

/// Of a plan all must be as in the file, but for breakpoints.
TEST(probed_code, planned_code_that_was_changed) {
  const ProbedCode planned{.function = "malloc",
                           .role = CodeRole::kPlanned,
                           .file_offset = 0x1000,
                           .probe_at = 0,
                           .bytes = {0x41, 0x54, 0x55, 0x48, 0x89, 0xfd}};
  EXPECT_TRUE(has_breakpoint(planned, planned.bytes));
  const Bytes probed = {0x41, 0x54, 0xcc, 0x48, 0x89, 0xfd};
  EXPECT_TRUE(has_breakpoint(planned, probed));
  const Bytes changed = {0x41, 0x54, 0x55, 0x48, 0x89, 0xfe};
  EXPECT_FALSE(has_breakpoint(planned, changed));
  EXPECT_TRUE(is_other_code(planned, changed));
}

AllocatorFunction function_with_probe_at(const ElfImage& image, std::uint64_t distance) {
  AllocatorFunction function;
  function.names = {"free"};
  function.entry_offset = *image.file_offset_of(testing::extent_of(image, "as_glibc").vaddr);
  function.probe_offset = function.entry_offset + distance;
  return function;
}

/// The programs look at the last bytes up to the probed one. A hook lies over the first.
TEST(probed_code, what_the_last_look_leaves_out_is_looked_at_apart) {
  const ElfImage image = testing::open_image(testing::fixture_path("free_points.so"));
  for (const std::uint64_t distance : {0, 1, 15, 16, 17, 31, 32, 35, 48}) {
    const AllocatorFunction function = function_with_probe_at(image, distance);
    std::uint64_t seen = function.entry_offset;
    for (const ProbedCode& code : probed_code_of(image, function)) {
      const bool is_probed = code.role == CodeRole::kProbed;
      const std::uint64_t end = code.file_offset + (is_probed ? code.probe_at + 1 : code.bytes.size());
      EXPECT_LE(is_probed && end > HAWK_POINT_BYTES ? end - HAWK_POINT_BYTES : code.file_offset, seen) << distance;
      EXPECT_LE(code.role == CodeRole::kOnTheWay ? code.bytes.size() : 0, std::size_t{HAWK_POINT_BYTES});
      EXPECT_EQ(code.bytes[0], image.code_at(*image.vaddr_of(code.file_offset), 1)[0]);
      seen = end;
    }
    EXPECT_EQ(seen, function.probe_offset + 1) << distance;
  }
}

TEST(probed_code, call_that_is_too_short) {
  EXPECT_FALSE(call_over_nop(
      {.function = "f", .role = CodeRole::kProbed, .file_offset = 0, .probe_at = 0, .bytes = {0x0f, 0x1f, 0x00}},
      Bytes{0xe8, 0x00, 0x00}, 0));
}

}  // namespace
}  // namespace hawk
