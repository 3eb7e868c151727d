#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

#include "bpf/unwind/rule_cache.h"
#include "bpf/unwind/stack_hash.h"

namespace {

class Cache {
 public:
  __u32 find(__u64 address, __u32 generation) const {
    const __u32 first = hawk_find_first_cached(words_.data(), address, generation);
    return first != 0 ? first : hawk_find_second_cached(words_.data(), address, generation);
  }
  void put(__u64 address, __u32 generation, __u32 number) {
    hawk_cache_rule(words_.data(), address, generation, number);
  }

 private:
  std::vector<__u64> words_ = std::vector<__u64>(2 * HAWK_CACHE_SETS);
};

__u32 set_of(__u64 address) { return hawk_cache_slot_of(address, 1).first; }

TEST(UnwindCache, FindsWhatWasPutInThatGeneration) {
  Cache cache;
  cache.put(0x7f0012345678, 5, 1234);
  EXPECT_EQ(cache.find(0x7f0012345678, 5), 1234u);
  EXPECT_EQ(cache.find(0x7f0012345678, 6), 0u);
  EXPECT_EQ(cache.find(0x7f0012345679, 5), 0u);
}

TEST(UnwindCache, KeepsTheTwoLastOfASet) {
  Cache cache;
  std::vector<__u64> together;
  for (__u64 address = 0x400000; together.size() < 3; ++address) {
    if (set_of(address) == set_of(0x400000)) together.push_back(address);
  }
  for (__u32 i = 0; i < 3; ++i) cache.put(together[i], 1, 100 + i);
  EXPECT_EQ(cache.find(together[0], 1), 0u);
  EXPECT_EQ(cache.find(together[1], 1), 101u);
  EXPECT_EQ(cache.find(together[2], 1), 102u);
}

// Set and tag together are all of an address: no two have both in common.
TEST(UnwindCache, NeverTakesOneAddressForAnother) {
  Cache cache;
  std::mt19937_64 random(1);
  std::set<__u64> put;
  for (int i = 0; i < 20000; ++i) {
    const __u64 address = random() >> (64 - HAWK_ADDRESS_BITS);
    cache.put(address, 1, 7);
    put.insert(address);
  }
  for (int i = 0; i < 200000; ++i) {
    const __u64 address = random() >> (64 - HAWK_ADDRESS_BITS);
    if (put.contains(address)) continue;
    ASSERT_EQ(cache.find(address, 1), 0u) << address;
  }
  for (const __u64 address : put) {
    const __u64 flipped = address ^ __u64 { 1 } << random() % HAWK_ADDRESS_BITS;
    if (put.contains(flipped)) continue;
    ASSERT_EQ(cache.find(flipped, 1), 0u) << flipped;
  }
}

// What makes two addresses differ is their product with the multiplier, and each of its bits is in the set or in the
// tag, whatever generation has its bits beside.
TEST(UnwindCache, KeepsEveryBitOfAnAddress) {
  constexpr __u64 kAddress = 0x7f0012345678, kAddresses = __u64{1} << HAWK_ADDRESS_BITS;
  constexpr __u64 kInverse = 0xF1DE83E19937733D;
  static_assert(HAWK_GOLDEN_RATIO * kInverse == 1);
  for (const __u32 generation : {1u, 0x7fffu, 0x8001u, 0xffffffffu}) {
    Cache cache;
    cache.put(kAddress, generation, 7);
    EXPECT_EQ(cache.find(kAddress, generation), 7u);
    for (int bit = 0; bit < HAWK_ADDRESS_BITS; ++bit) {
      const __u64 other = (kAddress * HAWK_GOLDEN_RATIO ^ __u64{1} << bit) * kInverse % kAddresses;
      EXPECT_EQ(cache.find(other, generation), 0u) << bit;
    }
  }
}

TEST(UnwindCache, HoldsNothingOfGenerationZero) {
  Cache cache;
  EXPECT_EQ(cache.find(0, 0), 0u);
  cache.put(0x400000, 0, 9);
  EXPECT_EQ(cache.find(0x400000, 0), 0u);
}

TEST(UnwindCache, LeavesOutAddressesThatAreTooLong) {
  Cache cache;
  constexpr __u64 kLong = (__u64{1} << HAWK_ADDRESS_BITS) + 0x400000;
  cache.put(0x400000, 1, 9);
  EXPECT_EQ(cache.find(kLong, 1), 0u);
  __u64 beside = 0x400001;
  while (set_of(beside) != set_of(0x400000)) ++beside;
  cache.put(beside, 1, 8);
  EXPECT_EQ(cache.find(0x400000, 1), 9u) << "in the second slot";
  EXPECT_EQ(cache.find(kLong, 1), 0u);
  cache.put(kLong + 1, 1, 9);
  EXPECT_EQ(cache.find(0x400001, 1), 0u);
}

}  // namespace
