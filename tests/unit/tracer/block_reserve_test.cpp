// How the maps of the reserve grow; that they are needed and used is tested with a kernel
// (live_table.memory_refused_*).
#include "userspace/tracer/block_reserve.h"

#include <gtest/gtest.h>

namespace hawk {
namespace {

TEST(BlockReserve, EachMapDoublesTheRoom) {
  EXPECT_EQ(BlockReserve::room_of(0, HAWK_MAX_BLOCKS), 0U);
  EXPECT_EQ(BlockReserve::room_of(1, HAWK_MAX_BLOCKS), HAWK_RESERVE_BLOCKS);
  for (std::uint32_t maps = 1; maps < HAWK_RESERVE_MAPS; ++maps) {
    EXPECT_EQ(BlockReserve::room_of(maps + 1, HAWK_MAX_BLOCKS), 2 * BlockReserve::room_of(maps, HAWK_MAX_BLOCKS));
  }
}

TEST(BlockReserve, AllMapsHaveRoomForAllBlocksAndNoMore) {
  for (const std::uint32_t most :
       {1U, 1000U, HAWK_RESERVE_BLOCKS, HAWK_RESERVE_BLOCKS + 1, 1U << 20, HAWK_MAX_BLOCKS}) {
    EXPECT_EQ(BlockReserve::room_of(HAWK_RESERVE_MAPS, most), most);
  }
  EXPECT_EQ(BlockReserve::room_of(1, 1000), 1000U);
  EXPECT_EQ(BlockReserve::room_of(2, HAWK_RESERVE_BLOCKS + 1), HAWK_RESERVE_BLOCKS + 1);
}

}  // namespace
}  // namespace hawk
