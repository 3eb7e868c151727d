#include "bpf/unwind/stack_hash.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <unordered_set>
#include <vector>

namespace {

constexpr hawk_hash_key kKey = {.addend = 0x0123456789abcdef, .multiplier = 0xfedcba9876543211};

std::uint64_t mixed(std::uint64_t address, const hawk_hash_key& key = kKey) {
  return hawk_mix_frame(key.addend, key.multiplier, address);
}

std::uint64_t hash_of(const std::vector<std::uint64_t>& addresses, std::uint32_t epoch = 0,
                      const hawk_hash_key& key = kKey) {
  std::uint64_t hash = hawk_hash_start(epoch);
  for (const std::uint64_t address : addresses) hash = hawk_hash_frame(hash, mixed(address, key));
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

// Two traces have nothing in common: neither the same hash for a stack, nor, in any bit, the same difference between
// two stacks, by which a program could foresee that they collide.
TEST(StackHash, DependsOnItsKey) {
  constexpr std::uint64_t kAddress = 0x7f0000001000;
  std::unordered_set<std::uint64_t> hashes, differences;
  for (std::uint64_t i = 1; i <= 1000; ++i) {
    for (const hawk_hash_key& key : {hawk_hash_key{i, kKey.multiplier}, hawk_hash_key{kKey.addend, 2 * i + 1}}) {
      hashes.insert(hash_of({kAddress, kAddress + 1}, 0, key));
      differences.insert(hash_of({kAddress}, 0, key) - hash_of({kAddress ^ 1ull << 46}, 0, key));
    }
  }
  EXPECT_EQ(hashes.size(), 2000u);
  EXPECT_EQ(differences.size(), 2000u);
}

// A key that is as poor as can be still makes different numbers of all addresses.
TEST(StackHash, KeepsAddressesApartWhateverTheKey) {
  for (const hawk_hash_key& key : {hawk_hash_key{0, 1}, hawk_hash_key{~0ull, ~0ull}, kKey}) {
    std::unordered_set<std::uint64_t> numbers;
    for (std::uint64_t i = 0; i < 100000; ++i) numbers.insert(mixed(i << 31, key));
    EXPECT_EQ(numbers.size(), 100000u);
  }
}

// Words that are known to defeat sums of products modulo a power of two: of two letters, the second with the two
// exchanged (Thue and Morse). A program that calls itself from two places can make such stacks.
TEST(StackHash, TellsWordsOfThueAndMorseApart) {
  std::unordered_set<std::uint64_t> hashes;
  for (std::uint64_t pair = 0; pair < 20000; ++pair) {
    std::vector<std::uint64_t> word(256), exchanged(256);
    for (unsigned i = 0; i < 256; ++i) {
      const std::uint64_t odd = static_cast<std::uint64_t>(__builtin_popcount(i)) % 2;
      word[i] = 0x401000 + 32 * pair + 16 * odd;
      exchanged[i] = 0x401000 + 32 * pair + 16 * (1 - odd);
    }
    // As stacks are known by: with 44 bits.
    hashes.insert(hash_of(word) >> 20);
    hashes.insert(hash_of(exchanged) >> 20);
  }
  EXPECT_EQ(hashes.size(), 40000u);
}

}  // namespace
