#include "symbolizer/info_section.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <random>
#include <vector>

namespace hawk {
namespace {

using Storage = std::vector<std::uint8_t>;

/// Numbers that compress, but not to nothing: long enough for several copies of the inflater's state.
Storage original_bytes() {
  std::mt19937 random(1);
  Storage bytes((std::size_t{13} << 20) + 123);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random() % 8);
  return bytes;
}

Storage deflated(const Storage& bytes) {
  uLongf size = ::compressBound(bytes.size());
  Storage result(size);
  EXPECT_EQ(::compress2(result.data(), &size, bytes.data(), bytes.size(), 1), Z_OK);
  result.resize(size);
  return result;
}

class InflatedParts : public ::testing::Test {
 protected:
  void expect_part(InfoSection& section, std::uint64_t offset, std::uint64_t size) {
    const Bytes part = section.part(offset, size, storage_);
    const Bytes expected = part_of(original_, offset, size);
    ASSERT_TRUE(std::ranges::equal(part, expected)) << offset << " " << size << " gave " << part.size();
  }

  const Storage original_ = original_bytes();
  const Storage deflated_ = deflated(original_);
  Storage storage_;
};

TEST_F(InflatedParts, are_those_of_the_original_in_ascending_order) {
  InfoSection section(deflated_, original_.size());
  for (std::uint64_t offset = 0; offset < original_.size(); offset += 300'000) {
    expect_part(section, offset, 48);  // as a header, which is read again with what follows it
    expect_part(section, offset, 300'000);
  }
}

TEST_F(InflatedParts, are_those_of_the_original_in_any_order) {
  InfoSection section(deflated_, original_.size());
  std::mt19937 random(2);
  for (int i = 0; i < 40; ++i) expect_part(section, random() % original_.size(), random() % 1'000'000);
  expect_part(section, original_.size() - 1, 1);
  expect_part(section, 0, 1);
}

TEST_F(InflatedParts, end_with_the_section) {
  InfoSection section(deflated_, original_.size());
  expect_part(section, original_.size() - 10, 1000);
  EXPECT_TRUE(section.part(original_.size(), 1, storage_).empty());
  EXPECT_TRUE(section.part(UINT64_MAX, UINT64_MAX, storage_).empty());
}

TEST_F(InflatedParts, of_a_truncated_stream_end_with_it) {
  const Storage truncated(deflated_.begin(), deflated_.begin() + static_cast<std::ptrdiff_t>(deflated_.size() / 2));
  InfoSection section(truncated, original_.size());
  expect_part(section, 0, 100'000);
  EXPECT_LT(section.part(0, original_.size(), storage_).size(), original_.size());
  EXPECT_TRUE(section.part(original_.size() - 10, 10, storage_).empty());
}

TEST_F(InflatedParts, of_a_section_that_promises_too_much_are_what_there_is) {
  InfoSection section(deflated_, UINT64_MAX);
  EXPECT_EQ(section.part(0, UINT64_MAX, storage_).size(), original_.size());
}

TEST(info_section, in_place_needs_no_storage) {
  const Storage bytes{1, 2, 3, 4};
  InfoSection section{Bytes(bytes)};
  Storage storage;
  EXPECT_EQ(section.part(1, 2, storage).data(), bytes.data() + 1);
  EXPECT_EQ(section.part(3, 9, storage).size(), 1u);
  EXPECT_TRUE(storage.empty());
}

TEST(info_section, of_nothing_or_noise_is_empty) {
  const Storage noise(1000, 0xa5);
  Storage storage;
  InfoSection none{Bytes{}, 0};
  InfoSection damaged(noise, 5000);
  EXPECT_TRUE(none.part(0, 10, storage).empty());
  EXPECT_TRUE(damaged.part(0, 10, storage).empty());
  EXPECT_TRUE(damaged.part(100, 10, storage).empty());
}

}  // namespace
}  // namespace hawk
