/// How functions are put together: order, gaps, padding, overlaps.
#include "userspace/unwinding/row_assembly.h"

#include <gtest/gtest.h>

#include "tests/unit/unwinding/frame_bytes.h"

namespace hawk {
namespace {

using testing::Bytes;
using testing::FrameBytes;
using testing::Rows;

struct Function {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
  /// Its rules are "cfa=rsp+<offset>".
  std::uint8_t cfa_offset = 8;
};

Rows rows_of(const std::vector<Function>& functions) {
  FrameBytes bytes;
  const std::uint64_t common = bytes.add_common();
  for (const Function& function : functions) {
    bytes.add_function(common, function.begin, function.bytes, {0x0e, function.cfa_offset});
  }
  return testing::rows_of(bytes);
}

std::string row(const std::string& offset, int cfa_offset) {
  return offset + " cfa=rsp+" + std::to_string(cfa_offset) + " rbp=same";
}

TEST(RowAssembly, NoFunctionsNoRows) { EXPECT_TRUE(rows_of({}).empty()); }

TEST(RowAssembly, FunctionsAreSorted) {
  EXPECT_EQ(rows_of({{0x1040, 0x40, 16}, {0x1000, 0x40, 24}, {0x1080, 0x40, 32}}),
            (Rows{row("0x0", 24), row("0x40", 16), row("0x80", 32), "0xc0 gap"}));
}

TEST(RowAssembly, EqualNeighboursBecomeOne) {
  EXPECT_EQ(rows_of({{0x1000, 0x40, 16}, {0x1040, 0x40, 16}, {0x1080, 0x40, 32}}),
            (Rows{row("0x0", 16), row("0x80", 32), "0xc0 gap"}));
}

TEST(RowAssembly, PaddingBelongsToTheFunctionBefore) {
  EXPECT_EQ(rows_of({{0x1000, 0x31, 16}, {0x1040, 0x40, 24}}), (Rows{row("0x0", 16), row("0x40", 24), "0x80 gap"}));
  EXPECT_EQ(rows_of({{0x1000, 0x30, 16}, {0x1040, 0x40, 24}}),
            (Rows{row("0x0", 16), "0x30 gap", row("0x40", 24), "0x80 gap"}));
}

TEST(RowAssembly, OneThatBeginsLaterLiesOnTop) {
  EXPECT_EQ(rows_of({{0x1000, 0x100, 16}, {0x1020, 0x20, 24}}),
            (Rows{row("0x0", 16), row("0x20", 24), row("0x40", 16), "0x100 gap"}));
  EXPECT_EQ(rows_of({{0x1000, 0x40, 16}, {0x103f, 0x11, 24}}), (Rows{row("0x0", 16), row("0x3f", 24), "0x50 gap"}));
}

TEST(RowAssembly, ThreeThatOverlap) {
  EXPECT_EQ(rows_of({{0x1000, 100, 16}, {0x1000 + 20, 40, 24}, {0x1000 + 40, 40, 32}}),
            (Rows{row("0x0", 16), row("0x14", 24), row("0x28", 32), row("0x50", 16), "0x64 gap"}));
}

TEST(RowAssembly, OfTwoThatBeginTogetherTheShorterIsOnTop) {
  const Rows expected = {row("0x0", 24), row("0x20", 16), "0x40 gap"};
  EXPECT_EQ(rows_of({{0x1000, 0x40, 16}, {0x1000, 0x20, 24}}), expected);
  EXPECT_EQ(rows_of({{0x1000, 0x20, 24}, {0x1000, 0x40, 16}}), expected);
  EXPECT_EQ(rows_of({{0x1000, 0x40, 16}, {0x1000, 0x40, 24}}), (Rows{row("0x0", 24), "0x40 gap"})) << "the later one";
}

TEST(RowAssembly, RowsBelowAnotherFunctionAreSkipped) {
  FrameBytes bytes;
  const std::uint64_t common = bytes.add_common();
  // Every 16 bytes the CFA moves on by 8.
  bytes.add_function(common, 0x1000, 0x60, {0x50, 0x0e, 16, 0x50, 0x0e, 24, 0x50, 0x0e, 32, 0x50, 0x0e, 40});
  bytes.add_function(common, 0x1018, 0x1c, {0x0e, 80});
  EXPECT_EQ(testing::rows_of(bytes),
            (Rows{row("0x0", 8), row("0x10", 16), row("0x18", 80), row("0x34", 32), row("0x40", 40), "0x60 gap"}));
}

TEST(RowAssembly, WhatLiesMoreThan4GiBBehindIsCounted) {
  FrameBytes bytes(true);
  const std::uint64_t common = bytes.add_common({.augmentation = "", .augmentation_data = {}});
  bytes.add_function(common, 0x1000, 0x10);
  bytes.add_function(common, 0x1000 + 0xffffff00ull, 0xff, {0x0e, 16});
  bytes.add_function(common, 0x1000 + 0xffffff00ull, 0x100, {0x0e, 24});
  bytes.add_function(common, 1ull << 40, 0x10);
  EXPECT_EQ(testing::rows_of(bytes), (Rows{row("0x0", 8), "0x10 gap", row("0xffffff00", 16), "0xffffffff gap"}));
  EXPECT_EQ(table_of(bytes).unsupported,
            (std::map<std::string, std::uint64_t>{{"function more than 4 GiB after the first", 2}}));
}

TEST(RowAssembly, OffsetsBeginAtZeroThoughTheFirstFunctionIsUnreadable) {
  for (const std::uint64_t second : {0x1008, 0x1100}) {
    FrameBytes bytes;
    const std::uint64_t damaged = bytes.add_common({.instructions = {0x3e}});
    bytes.add_function(damaged, 0x1000, 8);
    bytes.add_function(bytes.add_common(), second, 0x10);
    const UnwindTable table = table_of(bytes);
    ASSERT_EQ(table.rows.size(), 3u);
    EXPECT_EQ(table.rows[0].offset, 0u);
    EXPECT_EQ(table.rows[0].rule, std::uint32_t{HAWK_RULE_GAP});
    EXPECT_EQ(table.base_vaddr + table.rows[1].offset, second);
  }
}

}  // namespace
}  // namespace hawk
