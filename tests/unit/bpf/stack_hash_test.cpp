#include "bpf/stack_hash.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <unordered_set>
#include <vector>

namespace {

std::uint64_t hash_of(const std::vector<std::uint64_t>& addresses, std::uint32_t epoch = 0) {
  std::uint64_t hash = hawk_hash_start(epoch);
  for (const std::uint64_t address : addresses) hash = hawk_hash_frame(hash, address);
  return hawk_hash_finish(hash);
}

TEST(StackHash, TellsOrderDepthAndEpochApart) {
  const std::uint64_t base = hash_of({0x401000, 0x402000});
  EXPECT_NE(base, hash_of({0x402000, 0x401000}));
  EXPECT_NE(base, hash_of({0x401000}));
  EXPECT_NE(base, hash_of({0x401000, 0x402000, 0x402000}));
  EXPECT_NE(base, hash_of({0x401000, 0x402000}, 1));
}

// A million stacks that differ in a few low bits of one or two frames, as real ones do: a collision among them would be
// a one in 37 million chance for a perfect hash.
TEST(StackHash, KeepsAMillionSimilarStacksApart) {
  std::unordered_set<std::uint64_t> hashes;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    for (std::uint64_t j = 0; j < 1000; ++j) {
      hashes.insert(hash_of({0x7f0000001000 + i * 16, 0x555555554000, 0x555555555000 + j * 5}));
    }
  }
  EXPECT_EQ(hashes.size(), 1000000u);
}

// stack_index takes the lower bits, which a product alone makes of the lower bits of addresses only: stacks that differ
// in upper bits would all meet in one place.
TEST(StackHash, SpreadsUpperBitsOverLowerOnes) {
  std::unordered_set<std::uint64_t> places;
  for (std::uint64_t i = 0; i < 1000; ++i) places.insert(hash_of({0x401000 + (i << 32)}) & 0xffff);
  EXPECT_GT(places.size(), 980u);  // by chance 992
}

TEST(StackHash, GivesTheLastFrameBack) {
  const std::uint64_t before = hawk_hash_frame(hawk_hash_start(3), 0x7f0000001000);
  EXPECT_EQ(hawk_unhash_frame(hawk_hash_frame(before, 0x555555554321), 0x555555554321), before);
}

}  // namespace
