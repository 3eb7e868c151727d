#include "bpf/requested_size.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace {

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();

TEST(RequestedBytes, TakesTheSizeArgumentOfEachKind) {
  EXPECT_EQ(hawk_requested_bytes(HAWK_CALL_MALLOC, 10, 20, 30), 10u);
  EXPECT_EQ(hawk_requested_bytes(HAWK_CALL_CALLOC, 10, 20, 30), 200u);
  EXPECT_EQ(hawk_requested_bytes(HAWK_CALL_REALLOC, 10, 20, 30), 20u);
  EXPECT_EQ(hawk_requested_bytes(HAWK_CALL_REALLOCARRAY, 10, 20, 30), 600u);
  EXPECT_EQ(hawk_requested_bytes(HAWK_CALL_ALIGNED_ALLOC, 10, 20, 30), 20u);
  EXPECT_EQ(hawk_requested_bytes(HAWK_CALL_POSIX_MEMALIGN, 10, 20, 30), 30u);
  EXPECT_EQ(hawk_requested_bytes(HAWK_CALL_STRING, 10, 20, 30), HAWK_SIZE_NOT_KNOWN);
}

TEST(RequestedBytes, AreThoseOfTheNewSizeWhereABlockIsResized) {
  for (const hawk_call_kind kind : {HAWK_CALL_REALLOCF, HAWK_CALL_EXPAND, HAWK_CALL_XALLOCX}) {
    EXPECT_EQ(hawk_requested_bytes(kind, 10, 20, 30), 20u);
    EXPECT_TRUE(hawk_takes_block(kind));
  }
  EXPECT_TRUE(hawk_takes_block(HAWK_CALL_REALLOC));
  EXPECT_TRUE(hawk_takes_block(HAWK_CALL_REALLOCARRAY));
  for (const hawk_call_kind kind : {HAWK_CALL_MALLOC, HAWK_CALL_CALLOC, HAWK_CALL_ALIGNED_ALLOC,
                                    HAWK_CALL_POSIX_MEMALIGN, HAWK_CALL_STRING, HAWK_CALL_FREE, HAWK_CALL_UNFOLLOWED}) {
    EXPECT_FALSE(hawk_takes_block(kind));
  }
}

TEST(RequestedBytes, OfABlockThatGrewInPlaceAreNoMoreThanItHas) {
  EXPECT_EQ(hawk_resized_bytes(100, 0, 112), 100u);
  EXPECT_EQ(hawk_resized_bytes(100, 5, 112), 105u);
  EXPECT_EQ(hawk_resized_bytes(100, 50, 112), 112u);
  EXPECT_EQ(hawk_resized_bytes(100, kMax, 100), 100u);
}

TEST(RequestedBytes, OfAFailedCallTellWhetherTheBlockIsStillThere) {
  EXPECT_TRUE(hawk_keeps_block(HAWK_CALL_REALLOC, 1));
  EXPECT_FALSE(hawk_keeps_block(HAWK_CALL_REALLOC, 0));
  EXPECT_FALSE(hawk_keeps_block(HAWK_CALL_REALLOCARRAY, 0));
  EXPECT_FALSE(hawk_keeps_block(HAWK_CALL_REALLOCF, 1));
  EXPECT_TRUE(hawk_keeps_block(HAWK_CALL_EXPAND, 0));
  EXPECT_TRUE(hawk_keeps_block(HAWK_CALL_XALLOCX, 0));
}

TEST(RequestedBytes, MultipliesAsTheBuiltinDoesWhateverTheFactors) {
  const std::uint64_t factors[] = {
      0, 1, 2, 3, 0xffffffff, 0x100000000, 0x100000001, 0x7fffffffffffffff, 0x8000000000000000, kMax - 1, kMax};
  for (const std::uint64_t a : factors) {
    for (const std::uint64_t b : factors) {
      std::uint64_t product = 0;
      const bool overflow = __builtin_mul_overflow(a, b, &product);
      EXPECT_EQ(hawk_product(a, b), overflow ? kMax : product) << a << " * " << b;
    }
  }
}

}  // namespace
