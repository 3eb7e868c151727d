#include "symbolizer/byte_cursor.h"

#include <gtest/gtest.h>

#include <vector>

namespace hawk {
namespace {

using Storage = std::vector<std::uint8_t>;

TEST(byte_cursor, reads_numbers_of_every_size) {
  const Storage bytes{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20};
  ByteCursor cursor{Bytes(bytes)};
  EXPECT_EQ(cursor.number(0), 0u);
  EXPECT_EQ(cursor.number(3), 0x030201u);
  EXPECT_EQ(cursor.u64(), 0x0b0a090807060504u);
  EXPECT_EQ(cursor.u8(), 12u);
  EXPECT_EQ(cursor.number(5), 0x11100f0e0du);  // near the end: fewer than eight bytes are left
  EXPECT_EQ(cursor.u16(), 0x1312u);
  EXPECT_TRUE(cursor.ok());
  EXPECT_EQ(cursor.left(), 1u);
}

TEST(byte_cursor, reads_numbers_of_variable_length) {
  const Storage bytes{0xe5, 0x8e, 0x26, 0x7f, 0x80, 0x7f, 0x02, 0x40};
  ByteCursor cursor{Bytes(bytes)};
  EXPECT_EQ(cursor.uleb128(), 624485u);  // the standard's own examples
  EXPECT_EQ(cursor.sleb128(), -1);
  EXPECT_EQ(cursor.sleb128(), -128);
  EXPECT_EQ(cursor.sleb128(), 2);
  EXPECT_EQ(cursor.sleb128(), -64);
  EXPECT_TRUE(cursor.at_end());
  EXPECT_TRUE(cursor.ok());
}

TEST(byte_cursor, drops_bits_beyond_64) {
  Storage bytes(20, 0xff);
  bytes.push_back(0x7f);
  ByteCursor cursor{Bytes(bytes)};
  EXPECT_EQ(cursor.uleb128(), UINT64_MAX);
  EXPECT_TRUE(cursor.at_end());
}

TEST(byte_cursor, fails_at_the_end_and_stays_failed) {
  const Storage bytes{0x80, 0x80};
  ByteCursor number{Bytes(bytes)};
  EXPECT_EQ(number.u32(), 0u);
  EXPECT_FALSE(number.ok());
  EXPECT_EQ(number.u8(), 0u);
  ByteCursor leb{Bytes(bytes)};
  leb.uleb128();
  EXPECT_FALSE(leb.ok());
  ByteCursor skipping{Bytes(bytes)};
  skipping.skip(UINT64_MAX);
  EXPECT_FALSE(skipping.ok());
}

TEST(byte_cursor, takes_only_text_that_ends) {
  const Storage bytes{'a', 'b', 0, 0, 'c'};
  ByteCursor cursor{Bytes(bytes)};
  EXPECT_EQ(cursor.text(), "ab");
  EXPECT_EQ(cursor.text(), "");
  EXPECT_TRUE(cursor.ok());
  EXPECT_EQ(cursor.text(), "");
  EXPECT_FALSE(cursor.ok());
}

TEST(byte_cursor, knows_both_forms_of_initial_length) {
  const Storage bytes{4, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 5, 0, 0, 0, 0, 0, 0, 0};
  ByteCursor cursor{Bytes(bytes)};
  std::uint8_t offset_bytes = 0;
  EXPECT_EQ(cursor.unit_length(offset_bytes), 4u);
  EXPECT_EQ(offset_bytes, 4u);
  EXPECT_EQ(cursor.unit_length(offset_bytes), 5u);
  EXPECT_EQ(offset_bytes, 8u);
}

TEST(byte_cursor, parts_never_leave_their_whole) {
  const Storage bytes{1, 2, 3};
  EXPECT_EQ(part_of(bytes, 1).size(), 2u);
  EXPECT_EQ(part_of(bytes, 1, 1).size(), 1u);
  EXPECT_EQ(part_of(bytes, 2, UINT64_MAX).size(), 1u);
  EXPECT_TRUE(part_of(bytes, 3).empty());
  EXPECT_TRUE(part_of(bytes, UINT64_MAX, 1).empty());
}

}  // namespace
}  // namespace hawk
