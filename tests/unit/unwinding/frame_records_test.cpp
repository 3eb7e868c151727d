/// Common records, functions' records, and how addresses are written in them.
#include "userspace/unwinding/frame_records.h"

#include <gtest/gtest.h>

#include "tests/unit/unwinding/frame_bytes.h"

namespace hawk {
namespace {

using testing::Bytes;
using testing::FrameBytes;
using testing::joined;
using testing::kCalled;
using testing::little_endian;
using testing::Rows;
using testing::rows_of;
using testing::rule_after;
using testing::sleb;
using testing::table_of;
using testing::uleb;

/// The first address of a function whose record is written with this encoding.
std::uint64_t begin_of(std::uint8_t encoding, const Bytes& begin, const Bytes& size) {
  FrameBytes bytes;
  const std::uint64_t common = bytes.add_common({.augmentation_data = {encoding}});
  bytes.add_raw_function(common, joined({begin, size, {0}}));
  return table_of(bytes).base_vaddr;
}

/// Of the one that stands there.
std::uint64_t first_begin_at() {
  FrameBytes bytes;
  bytes.add_common();
  return bytes.next_begin_vaddr();
}

TEST(FrameRecords, AbsolutePointers) {
  EXPECT_EQ(begin_of(0x00, little_endian(0x401000, 8), little_endian(4, 8)), 0x401000u);
  EXPECT_EQ(begin_of(0x01, uleb(0x401000), uleb(4)), 0x401000u);
  EXPECT_EQ(begin_of(0x02, little_endian(0x4010, 2), little_endian(4, 2)), 0x4010u);
  EXPECT_EQ(begin_of(0x03, little_endian(0xf0401000, 4), little_endian(4, 4)), 0xf0401000u);
  EXPECT_EQ(begin_of(0x04, little_endian(0x401000, 8), little_endian(4, 8)), 0x401000u);
  EXPECT_EQ(begin_of(0x09, sleb(0x401000), sleb(4)), 0x401000u);
  EXPECT_EQ(begin_of(0x0a, little_endian(0x4010, 2), little_endian(4, 2)), 0x4010u);
  EXPECT_EQ(begin_of(0x0b, little_endian(0x401000, 4), little_endian(4, 4)), 0x401000u);
  EXPECT_EQ(begin_of(0x0c, little_endian(0x401000, 8), little_endian(4, 8)), 0x401000u);
}

TEST(FrameRecords, PointersRelativeToThemselves) {
  const std::uint64_t at = first_begin_at();
  EXPECT_EQ(begin_of(0x1a, little_endian(static_cast<std::uint64_t>(-0x100), 2), little_endian(4, 2)), at - 0x100);
  EXPECT_EQ(begin_of(0x1b, little_endian(static_cast<std::uint64_t>(-0x1000), 4), little_endian(4, 4)), at - 0x1000);
  EXPECT_EQ(begin_of(0x1c, little_endian(static_cast<std::uint64_t>(-0x1000), 8), little_endian(4, 8)), at - 0x1000);
  EXPECT_EQ(begin_of(0x13, little_endian(0x1000, 4), little_endian(4, 4)), at + 0x1000);
  EXPECT_EQ(begin_of(0x10, little_endian(0x1000, 8), little_endian(4, 8)), at + 0x1000);
}

TEST(FrameRecords, AlignedPointersHavePaddingBefore) {
  const std::uint64_t padding = (8 - first_begin_at() % 8) % 8;
  ASSERT_NE(padding, 0u) << "nothing would be tested";
  EXPECT_EQ(begin_of(0x50, joined({Bytes(padding, 0xcc), little_endian(0x401000, 8)}), little_endian(4, 8)), 0x401000u);
}

TEST(FrameRecords, OtherPointersAreCounted) {
  for (const std::uint8_t encoding : Bytes{0x05, 0x08, 0x0d, 0x2b, 0x3b, 0x4b, 0x9b, 0xff}) {
    FrameBytes bytes;
    bytes.add_function(bytes.add_common({.augmentation_data = {encoding}}), 0x1000, 0x10);
    EXPECT_TRUE(table_of(bytes).rows.empty()) << int{encoding};
    EXPECT_EQ(table_of(bytes).unsupported, (std::map<std::string, std::uint64_t>{{"unknown pointer encoding", 1}}));
  }
}

TEST(FrameRecords, Versions) {
  EXPECT_EQ(rule_after({}, {.version = 1}), kCalled);
  EXPECT_EQ(rule_after({}, {.version = 3}), kCalled);
  EXPECT_EQ(rule_after({}, {.version = 4}), kCalled);
  EXPECT_EQ(rule_after({}, {.version = 2}), "no rows");
  EXPECT_EQ(rule_after({}, {.version = 5}), "no rows");
}

TEST(FrameRecords, Augmentations) {
  // Personality (absolute, 4 bytes), table of exceptions, encoding; in any order.
  EXPECT_EQ(rule_after({}, {.augmentation = "zPLR", .augmentation_data = {0x03, 1, 2, 3, 4, 0x1b, 0x1b}}), kCalled);
  EXPECT_EQ(rule_after({}, {.augmentation = "zRLP", .augmentation_data = {0x1b, 0x1b, 0x9b, 1, 2, 3, 4}}), kCalled);
  EXPECT_EQ(rule_after({}, {.augmentation = "zPR", .augmentation_data = {0xff, 0x1b}}), kCalled);
  EXPECT_EQ(rule_after({}, {.augmentation = "zRB", .augmentation_data = {0x1b}}), kCalled);
  EXPECT_EQ(rule_after({}, {.augmentation = "zR", .augmentation_data = {0x1b, 1, 2, 3}}), kCalled);
}

TEST(FrameRecords, UnknownAugmentationsAreCounted) {
  for (const std::string augmentation : {"zX", "zRX", "R", "eh", "armcc+"}) {
    FrameBytes bytes;
    bytes.add_function(bytes.add_common({.augmentation = augmentation}), 0x1000, 0x10);
    EXPECT_TRUE(table_of(bytes).rows.empty()) << augmentation;
    EXPECT_EQ(table_of(bytes).unsupported, (std::map<std::string, std::uint64_t>{{"unknown augmentation", 1}}));
  }
}

TEST(FrameRecords, DataOfFunctionsIsPassedOver) {
  FrameBytes bytes;
  const std::uint64_t common = bytes.add_common({.augmentation_data = {0x03}});
  // Three bytes that would be instructions.
  bytes.add_raw_function(common, joined({little_endian(0x1000, 4), little_endian(0x10, 4), {3, 0x0e, 16, 0x17}}));
  EXPECT_EQ(rows_of(bytes), (Rows{"0x0 cfa=rsp+8 rbp=same", "0x10 gap"}));
}

TEST(FrameRecords, AnotherColumnForTheReturnAddress) {
  FrameBytes bytes;
  bytes.add_function(bytes.add_common({.return_address_column = 30}), 0x1000, 0x10);
  EXPECT_EQ(table_of(bytes).unsupported.count("return address in an unknown column"), 1u);
}

TEST(FrameRecords, CommonInstructionsThatMoveOrBreakOff) {
  for (const Bytes& instructions : {Bytes{0x41, 0x0c, 7, 8}, Bytes{0x0c, 7}, Bytes{0x3e}}) {
    FrameBytes bytes;
    bytes.add_function(bytes.add_common({.instructions = instructions}), 0x1000, 0x10);
    EXPECT_TRUE(table_of(bytes).rows.empty());
    EXPECT_EQ(table_of(bytes).unsupported.size(), 1u);
  }
}

TEST(FrameRecords, LongLengths) {
  FrameBytes bytes;
  bytes.add_function(bytes.add_common({}, true), 0x1000, 0x10, {}, true);
  EXPECT_EQ(rows_of(bytes), (Rows{"0x0 cfa=rsp+8 rbp=same", "0x10 gap"}));
}

TEST(FrameRecords, DebugFrame) {
  for (const bool is_long : {false, true}) {
    FrameBytes bytes(true);
    const std::uint64_t common = bytes.add_common({.version = 4, .augmentation = "", .augmentation_data = {}}, is_long);
    bytes.add_function(common, 0x401000, 0x20, {0x41, 0x0e, 16}, is_long);
    EXPECT_EQ(rows_of(bytes), (Rows{"0x0 cfa=rsp+8 rbp=same", "0x1 cfa=rsp+16 rbp=same", "0x20 gap"})) << is_long;
    EXPECT_EQ(table_of(bytes).base_vaddr, 0x401000u);
  }
}

TEST(FrameRecords, InDebugFrameACommonRecordMayFollow) {
  FrameBytes measure(true);
  measure.add_function(0, 0x1000, 0x10);
  FrameBytes bytes(true);
  bytes.add_function(measure.bytes().size(), 0x1000, 0x10);
  bytes.add_common({.version = 3, .augmentation = "", .augmentation_data = {}});
  EXPECT_EQ(rows_of(bytes), (Rows{"0x0 cfa=rsp+8 rbp=same", "0x10 gap"}));
}

TEST(FrameRecords, AddressesOfOtherSizes) {
  FrameBytes bytes(true);
  // version 4, no augmentation, addresses of 4 bytes, no segments, alignments, column
  bytes.add_raw(joined({little_endian(15, 4), {0xff, 0xff, 0xff, 0xff}, {4, 0, 4, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90}}));
  bytes.add_function(0, 0x1000, 0x10);
  EXPECT_EQ(table_of(bytes).unsupported, (std::map<std::string, std::uint64_t>{{"unknown size of addresses", 1}}));
}

TEST(FrameRecords, ATerminatorEndsOnlyWhatHasNoOtherEnd) {
  FrameBytes bytes;
  const std::uint64_t common = bytes.add_common();
  bytes.add_function(common, 0x1000, 0x10);
  bytes.add_raw({0, 0, 0, 0});
  bytes.add_function(common, 0x1010, 0x10, {0x0e, 16});
  EXPECT_EQ(rows_of(bytes).size(), 3u);
  RuleSet rules;
  UnwindSection section = bytes.section();
  section.ends_at_zero = true;
  EXPECT_EQ(rows_of(read_unwind_table(section, rules), rules), (Rows{"0x0 cfa=rsp+8 rbp=same", "0x10 gap"}));
}

TEST(FrameRecords, FunctionsThatTheLinkerDiscardedAreNoLoss) {
  FrameBytes bytes;
  const std::uint64_t common = bytes.add_common();
  bytes.add_function(common, 0, 0x10);
  bytes.add_function(common, 0x1000, 0);
  EXPECT_TRUE(table_of(bytes).rows.empty());
  EXPECT_TRUE(table_of(bytes).unsupported.empty());
}

}  // namespace
}  // namespace hawk
