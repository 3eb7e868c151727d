/// Every call frame instruction, by hand-assembled bytes.
#include "userspace/unwinding/frame_program.h"

#include <gtest/gtest.h>

#include "tests/unit/unwinding/frame_bytes.h"

namespace hawk {
namespace {

using testing::Bytes;
using testing::CommonBytes;
using testing::joined;
using testing::kCalled;
using testing::little_endian;
using testing::Rows;
using testing::rows_of_function;
using testing::rule_after;
using testing::sleb;
using testing::uleb;
using testing::with_block;

/// The location of the second row after `advance` and a change of the rule.
std::string second_row(const Bytes& advance, const CommonBytes& common = {}) {
  return rows_of_function(joined({advance, {0x0e, 16}}), common).at(1);
}

TEST(FrameProgram, AFunctionWithoutInstructionsIsAsTheCallLeftIt) {
  EXPECT_EQ(rows_of_function({}), (Rows{"0x0 cfa=rsp+8 rbp=same", "0x100 gap"}));
  EXPECT_EQ(rows_of_function({0, 0, 0}), (Rows{"0x0 cfa=rsp+8 rbp=same", "0x100 gap"}));
}

TEST(FrameProgram, ThePrologueOfAFrameWithFramePointer) {
  // advance 1; def_cfa_offset 16; offset rbp 2; advance 3; def_cfa_register rbp; advance 5; def_cfa rsp 8
  EXPECT_EQ(rows_of_function({0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x45, 0x0c, 7, 8}),
            (Rows{"0x0 cfa=rsp+8 rbp=same", "0x1 cfa=rsp+16 rbp=*(cfa-16)", "0x4 cfa=rbp+16 rbp=*(cfa-16)",
                  "0x9 cfa=rsp+8 rbp=*(cfa-16)", "0x100 gap"}));
}

TEST(FrameProgram, Advances) {
  EXPECT_EQ(second_row({0x7f}), "0x3f cfa=rsp+16 rbp=same");
  EXPECT_EQ(second_row({0x02, 0xfe}), "0xfe cfa=rsp+16 rbp=same");
  EXPECT_EQ(second_row({0x03, 0xfd, 0}), "0xfd cfa=rsp+16 rbp=same");
  EXPECT_EQ(second_row({0x04, 0xfc, 0, 0, 0}), "0xfc cfa=rsp+16 rbp=same");
  EXPECT_EQ(second_row({0x1d, 0xfb, 0, 0, 0, 0, 0, 0, 0}), "0xfb cfa=rsp+16 rbp=same");
  EXPECT_EQ(second_row({0x41}, {.code_alignment = 16}), "0x10 cfa=rsp+16 rbp=same");
  // Nowhere: one row with both changes.
  EXPECT_EQ(rows_of_function({0x0e, 24, 0x40, 0x0e, 16}), (Rows{"0x0 cfa=rsp+16 rbp=same", "0x100 gap"}));
}

TEST(FrameProgram, SetLocCountsAsTheFunctionsBeginningDoes) {
  testing::FrameBytes bytes;
  const std::uint64_t common = bytes.add_common();
  // Behind begin, size, augmentation length and the instruction's own byte.
  const std::uint64_t operand_at = bytes.next_begin_vaddr() + 4 + 4 + 1 + 1;
  bytes.add_function(common, 0x1000, 0x100, joined({{0x01}, little_endian(0x1040 - operand_at, 4), {0x0e, 16}}));
  EXPECT_EQ(rows_of(bytes), (Rows{"0x0 cfa=rsp+8 rbp=same", "0x40 cfa=rsp+16 rbp=same", "0x100 gap"}));
}

TEST(FrameProgram, RowsBehindTheFunctionAreLeftOut) {
  EXPECT_EQ(rows_of_function({0x03, 0, 1, 0x0e, 16}), (Rows{"0x0 cfa=rsp+8 rbp=same", "0x100 gap"}));
}

TEST(FrameProgram, Cfa) {
  EXPECT_EQ(rule_after({0x0c, 6, 16}), "cfa=rbp+16 rbp=same");
  EXPECT_EQ(rule_after(joined({{0x0c, 7}, uleb(33360)})), "cfa=rsp+33360 rbp=same");
  EXPECT_EQ(rule_after({0x12, 6, 0x7e}), "cfa=rbp+16 rbp=same");  // factored: -2 times -8
  EXPECT_EQ(rule_after({0x0d, 6}), "cfa=rbp+8 rbp=same");
  EXPECT_EQ(rule_after(joined({{0x0e}, uleb(10u << 20)})), "cfa=rsp+10485760 rbp=same");
  EXPECT_EQ(rule_after({0x13, 0x7c}), "cfa=rsp+32 rbp=same");
  EXPECT_EQ(rule_after({0x13, 0x01}), "cfa=rsp-8 rbp=same");
  EXPECT_EQ(rule_after(with_block({0x0f}, {0x77, 24})), "cfa=rsp+24 rbp=same");
}

TEST(FrameProgram, HalfACfaNeedsTheOtherHalf) {
  EXPECT_EQ(rule_after(joined({with_block({0x0f}, {0x76, 0x78, 0x06}), {0x0e, 16}})), "unsupported");
  EXPECT_EQ(rule_after(joined({with_block({0x0f}, {0x76, 0x78, 0x06}), {0x0d, 6}})), "unsupported");
  // A whole one replaces it.
  EXPECT_EQ(rule_after(joined({with_block({0x0f}, {0x76, 0x78, 0x06}), {0x0c, 7, 8}})), kCalled);
}

TEST(FrameProgram, SavedFramePointer) {
  EXPECT_EQ(rule_after({0x86, 2}), "cfa=rsp+8 rbp=*(cfa-16)");
  EXPECT_EQ(rule_after({0x05, 6, 3}), "cfa=rsp+8 rbp=*(cfa-24)");
  EXPECT_EQ(rule_after({0x11, 6, 4}), "cfa=rsp+8 rbp=*(cfa-32)");
  EXPECT_EQ(rule_after({0x11, 6, 0x7f}), "cfa=rsp+8 rbp=*(cfa+8)");
  EXPECT_EQ(rule_after({0x2f, 6, 2}), "cfa=rsp+8 rbp=*(cfa+16)");
  EXPECT_EQ(rule_after(with_block({0x10, 6}, {0x76, 0})), "cfa=rsp+8 rbp=*(rbp+0)");
  EXPECT_EQ(rule_after(with_block({0x10, 6}, {0x77, 40})), "cfa=rsp+8 rbp=*(rsp+40)");
  EXPECT_EQ(rule_after({0x86, 2, 0x08, 6}), kCalled);
}

TEST(FrameProgram, AnUnknownFramePointerIsLost) {
  EXPECT_EQ(rule_after({0x07, 6}), "cfa=rsp+8 rbp=lost");
  EXPECT_EQ(rule_after({0x09, 6, 3}), "cfa=rsp+8 rbp=lost");
  EXPECT_EQ(rule_after({0x14, 6, 2}), "cfa=rsp+8 rbp=lost");
  EXPECT_EQ(rule_after({0x15, 6, 2}), "cfa=rsp+8 rbp=lost");
  EXPECT_EQ(rule_after(with_block({0x16, 6}, {0x76, 0})), "cfa=rsp+8 rbp=lost");
  EXPECT_EQ(rule_after(with_block({0x10, 6}, {0x73, 0})), "cfa=rsp+8 rbp=lost");
}

TEST(FrameProgram, RestoreIsBackToTheCommonState) {
  EXPECT_EQ(rule_after({0x86, 2, 0xc6}), kCalled);
  EXPECT_EQ(rule_after({0x86, 2, 0x06, 6}), kCalled);
  const CommonBytes saved = {.instructions = {0x0c, 7, 8, 0x90, 1, 0x86, 2}};
  EXPECT_EQ(rule_after({0x08, 6, 0xc6}, saved), "cfa=rsp+8 rbp=*(cfa-16)");
}

TEST(FrameProgram, RememberedStatesNestAndIncludeTheCfa) {
  // remember; cfa 16; remember; rbp saved; restore; restore
  EXPECT_EQ(rows_of_function({0x0a, 0x41, 0x0e, 16, 0x0a, 0x41, 0x86, 2, 0x41, 0x0b, 0x41, 0x0b}),
            (Rows{"0x0 cfa=rsp+8 rbp=same", "0x1 cfa=rsp+16 rbp=same", "0x2 cfa=rsp+16 rbp=*(cfa-16)",
                  "0x3 cfa=rsp+16 rbp=same", "0x4 cfa=rsp+8 rbp=same", "0x100 gap"}));
}

TEST(FrameProgram, OtherRegistersMakeNoRows) {
  // rbx at CFA-24, r12 undefined, r13 in rax, r14 and r15 by expressions; the arguments' size
  const Bytes others = joined({{0x41, 0x83, 3, 0x41, 0x07, 12, 0x41, 0x09, 13, 0},
                               with_block({0x41, 0x10, 14}, {0x76, 0}),
                               with_block({0x41, 0x16, 15}, {0x76, 0}),
                               {0x41, 0xc3, 0x41, 0x2e, 16}});
  EXPECT_EQ(rows_of_function(others), (Rows{"0x0 cfa=rsp+8 rbp=same", "0x100 gap"}));
}

TEST(FrameProgram, AnUndefinedReturnAddressIsTheOutermostFrame) {
  EXPECT_EQ(rule_after({0x07, 16}), "end");
  EXPECT_EQ(rows_of_function({0x45, 0x07, 16}), (Rows{"0x0 cfa=rsp+8 rbp=same", "0x5 end", "0x100 gap"}));
}

TEST(FrameProgram, AReturnAddressElsewhereIsUnsupported) {
  EXPECT_EQ(rule_after({0x90, 2}), "unsupported");
  EXPECT_EQ(rule_after({0x09, 16, 5}), "unsupported");
  EXPECT_EQ(rule_after({0x08, 16}), "unsupported");
  EXPECT_EQ(rule_after({0x14, 16, 1}), "unsupported");
  EXPECT_EQ(rule_after(with_block({0x10, 16}, {0x77, 8})), "unsupported");
}

TEST(FrameProgram, AStackPointerOtherThanTheCfaIsUnsupported) {
  EXPECT_EQ(rule_after({0x87, 2}), "unsupported");
  EXPECT_EQ(rule_after({0x14, 7, 1}), "unsupported");
  EXPECT_EQ(rule_after({0x14, 7, 0}), kCalled);
  EXPECT_EQ(rule_after({0x08, 7}), kCalled);
}

TEST(FrameProgram, UnknownAndDamagedInstructionsCountFromWhereTheyAre) {
  for (const Bytes& bad : {Bytes{0x17}, Bytes{0x3f}, Bytes{0x2d}, Bytes{0x0b}, Bytes{0x0e}, Bytes{0x0e, 0x80},
                           Bytes{0x04, 1, 2, 3}, Bytes{0x0f, 5, 0x77, 8}}) {
    EXPECT_EQ(rows_of_function(joined({{0x42}, bad})), (Rows{"0x0 cfa=rsp+8 rbp=same", "0x2 unsupported", "0x100 gap"}))
        << ::testing::PrintToString(bad);
  }
}

TEST(FrameProgram, LocationsNeverGoBack) {
  testing::FrameBytes bytes;
  const std::uint64_t common = bytes.add_common();
  const std::uint64_t operand_at = bytes.next_begin_vaddr() + 4 + 4 + 1 + 2;
  bytes.add_function(common, 0x1000, 0x100, joined({{0x48, 0x01}, little_endian(0x1004 - operand_at, 4), {0x0e, 16}}));
  EXPECT_EQ(rows_of(bytes), (Rows{"0x0 cfa=rsp+8 rbp=same", "0x8 unsupported", "0x100 gap"}));
  // Nor around the address space.
  EXPECT_EQ(rule_after({0x42, 0x1d, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0e, 16}), "unsupported");
  EXPECT_EQ(rule_after({0x04, 0, 0, 0, 0x80}, {.code_alignment = 1ull << 40}), "unsupported");
}

TEST(FrameProgram, OffsetsThatDoNotFitAreUnsupported) {
  EXPECT_EQ(rule_after(joined({{0x0e}, uleb(1ull << 31)})), "unsupported");
  EXPECT_EQ(rule_after(joined({{0x0e}, uleb((1ull << 31) - 1)})), "cfa=rsp+2147483647 rbp=same");
  EXPECT_EQ(rule_after(joined({{0x86}, uleb(1ull << 61)})), "cfa=rsp+8 rbp=*(cfa+0)") << "wraps, but stays in bounds";
  EXPECT_EQ(rule_after(joined({{0x86}, uleb(1ull << 30)})), "cfa=rsp+8 rbp=lost");
}

TEST(FrameProgram, SignalFrames) {
  const CommonBytes common = {.augmentation = "zRS"};
  const Bytes restorer = joined(
      {with_block({0x0f}, joined({{0x77}, sleb(160), {0x06}})), with_block({0x10, 6}, joined({{0x77}, sleb(120)})),
       with_block({0x10, 7}, joined({{0x77}, sleb(160)})), with_block({0x10, 16}, joined({{0x77}, sleb(168)}))});
  EXPECT_EQ(rule_after(restorer, common), "signal");
  EXPECT_EQ(rule_after({}, common), "unsupported") << "another layout";
  EXPECT_EQ(rule_after(restorer), "unsupported") << "not made by the kernel";
}

}  // namespace
}  // namespace hawk
