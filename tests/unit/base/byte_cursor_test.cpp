#include "userspace/base/byte_cursor.h"

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
  EXPECT_EQ(cursor.number<std::uint64_t>(), 0x0b0a090807060504u);
  EXPECT_EQ(cursor.byte(), 12u);
  EXPECT_EQ(cursor.number(5), 0x11100f0e0du);  // near the end: fewer than eight bytes are left
  EXPECT_EQ(cursor.number<std::uint16_t>(), 0x1312u);
  EXPECT_TRUE(cursor.ok());
  EXPECT_EQ(cursor.left(), 1u);
}

TEST(byte_cursor, reads_numbers_of_variable_length) {
  const Storage bytes{0xe5, 0x8e, 0x26, 0x7f, 0x80, 0x7f, 0x02, 0x40};
  ByteCursor cursor{Bytes(bytes)};
  EXPECT_EQ(cursor.uleb(), 624485u);  // the standard's own examples
  EXPECT_EQ(cursor.sleb(), -1);
  EXPECT_EQ(cursor.sleb(), -128);
  EXPECT_EQ(cursor.sleb(), 2);
  EXPECT_EQ(cursor.sleb(), -64);
  EXPECT_TRUE(cursor.at_end());
  EXPECT_TRUE(cursor.ok());
}

TEST(byte_cursor, takes_no_number_for_64_bits_that_has_more) {
  Storage bytes(9, 0xff);
  bytes.push_back(0x01);
  ByteCursor largest{Bytes(bytes)};
  EXPECT_EQ(largest.uleb(), UINT64_MAX);
  EXPECT_TRUE(largest.ok() && largest.at_end());
  bytes.back() = 0x7f;
  ByteCursor minus_one{Bytes(bytes)};
  EXPECT_EQ(minus_one.sleb(), -1);
  EXPECT_TRUE(minus_one.ok());
  for (const int last : {0x02, 0x7f, 0x80, 0xff}) {
    bytes.back() = static_cast<std::uint8_t>(last);
    bytes.resize(10);
    bytes.resize(20, 0);
    ByteCursor cursor{Bytes(bytes)};
    EXPECT_EQ(cursor.uleb(), 0u) << last;
    EXPECT_FALSE(cursor.ok());
    bytes.resize(10);
  }
}

TEST(byte_cursor, accepts_padding_up_to_ten_bytes) {
  Storage bytes(10, 0x80);
  bytes.front() = 0x85;
  bytes.back() = 0;
  ByteCursor cursor{Bytes(bytes)};
  EXPECT_EQ(cursor.uleb(), 5u);
  EXPECT_TRUE(cursor.ok() && cursor.at_end());
  bytes.back() = 0x80;
  bytes.push_back(0);
  ByteCursor longer{Bytes(bytes)};
  longer.uleb();
  EXPECT_FALSE(longer.ok());
}

TEST(byte_cursor, reads_structures_and_blocks) {
  struct Pair {
    std::uint16_t first;
    std::uint16_t second;
  };
  const Storage bytes{1, 0, 2, 0, 3, 'a', 'b', 'c', 9};
  ByteCursor cursor{Bytes(bytes)};
  const auto pair = cursor.number<Pair>();
  EXPECT_EQ(pair.first, 1u);
  EXPECT_EQ(pair.second, 2u);
  EXPECT_EQ(text_of(cursor.block()), "abc");
  EXPECT_TRUE(cursor.block().empty()) << "nine bytes, of which there are none";
  EXPECT_FALSE(cursor.ok());
}

TEST(byte_cursor, fails_at_the_end_and_stays_failed) {
  const Storage bytes{0x80, 0x80};
  ByteCursor number{Bytes(bytes)};
  EXPECT_EQ(number.number<std::uint32_t>(), 0u);
  EXPECT_FALSE(number.ok());
  EXPECT_EQ(number.byte(), 0u);
  ByteCursor leb{Bytes(bytes)};
  leb.uleb();
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
  bool is_64_bit = true;
  EXPECT_EQ(cursor.initial_length(is_64_bit), 4u);
  EXPECT_FALSE(is_64_bit);
  EXPECT_EQ(cursor.initial_length(is_64_bit), 5u);
  EXPECT_TRUE(is_64_bit);
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
