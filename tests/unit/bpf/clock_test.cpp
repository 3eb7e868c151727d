// The stamps by which blocks are born.
#include "bpf/clock.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace hawk {
namespace {

constexpr __u64 kExactUpTo = 2ULL << HAWK_STAMP_FRACTION_BITS;

TEST(Clock, IsExactToTheMillisecondAtFirst) {
  for (__u64 ms = 0; ms < kExactUpTo; ++ms) ASSERT_EQ(hawk_stamp_ms(hawk_stamp_of(ms)), ms);
}

TEST(Clock, EachStampIsThatOfItsFirstMillisecondAndOfNoneBefore) {
  for (__u32 stamp = 1; stamp <= HAWK_STAMP_MOST; stamp += 7) {
    ASSERT_EQ(hawk_stamp_of(hawk_stamp_ms(stamp)), stamp);
    ASSERT_EQ(hawk_stamp_of(hawk_stamp_ms(stamp) - 1), stamp - 1);
  }
}

TEST(Clock, IsNeverAheadAndNeverFarBehind) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 100000; ++i) {
    const __u64 ms = random() >> (14 + random() % 40);
    const __u64 known = hawk_stamp_ms(hawk_stamp_of(ms));
    ASSERT_LE(known, ms);
    ASSERT_LE(ms - known, ms >> HAWK_STAMP_FRACTION_BITS);
  }
}

TEST(Clock, StopsAtItsEnd) {
  EXPECT_EQ(hawk_stamp_of(~0ULL), static_cast<__u32>(HAWK_STAMP_MOST));
  EXPECT_EQ(hawk_stamp_of(hawk_stamp_ms(HAWK_STAMP_MOST)), static_cast<__u32>(HAWK_STAMP_MOST));
  EXPECT_GT(hawk_stamp_ms(HAWK_STAMP_MOST), 30000ULL * 365 * 86400 * 1000) << "30,000 years";
}

}  // namespace
}  // namespace hawk
