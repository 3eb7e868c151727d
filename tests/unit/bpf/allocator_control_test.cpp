#include "bpf/allocator_control.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

namespace {

bool moves_blocks(const char* name) {
  std::array<char, HAWK_CONTROL_NAME_BYTES> bytes = {};
  std::strncpy(bytes.data(), name, bytes.size() - 1);
  return hawk_moves_blocks(bytes.data()) != 0;
}

TEST(AllocatorControl, KnowsThoseThatMoveBlocks) {
  for (const char* name : {"arena.0.reset", "arena.17.destroy", "arena.4096.reset", "arena.4294967295.destroy",
                           "experimental.batch_alloc", "arena.0000000000007.reset", "arena.00000000000000007.destroy",
                           // Too long for all of it to be seen: of no arena, or of one.
                           "arena.99999999999999999999999999.reset", "arena.00000000000000000000000007.reset"}) {
    EXPECT_TRUE(moves_blocks(name)) << name;
  }
}

TEST(AllocatorControl, LeavesAllOthersAlone) {
  for (const char* name :
       {"", "a", "epoch", "arena", "arena.", "arena.0", "arena.0.", "arena.0.purge", "arena.0.decay", "arenas.create",
        "arenas.bin.0.size", "stats.arenas.0.reset", "arena.0.retain_grow_limit", "thread.tcache.flush", "prof.reset",
        "experimental.utilization.query", "99999999999999999999999999999999", "arena.0000000000000000.purge"}) {
    EXPECT_FALSE(moves_blocks(name)) << name;
  }
}

bool numbers_move_blocks(std::vector<__u64> numbers) {
  const __u64 count = numbers.size();
  numbers.resize(std::max<std::size_t>(count, HAWK_CONTROL_NUMBERS));
  return hawk_numbers_move_blocks(numbers.data(), count) != 0;
}

TEST(AllocatorControl, KnowsThoseThatMoveBlocksByTheirNumbers) {
  EXPECT_TRUE(numbers_move_blocks({6, 7, 2}));     // arena.7.reset of 4.2
  EXPECT_TRUE(numbers_move_blocks({7, 7, 3}));     // of 5.0
  EXPECT_TRUE(numbers_move_blocks({8, 4096, 3}));  // of 5.1
  EXPECT_TRUE(numbers_move_blocks({8, 0, 4}));     // arena.0.destroy
  EXPECT_TRUE(numbers_move_blocks({12, 5}));       // experimental.batch_alloc of 5.3
}

TEST(AllocatorControl, LeavesAllOtherNumbersAlone) {
  EXPECT_FALSE(numbers_move_blocks({}));
  EXPECT_FALSE(numbers_move_blocks({1}));
  EXPECT_FALSE(numbers_move_blocks({8, 0, 2}));     // arena.0.purge
  EXPECT_FALSE(numbers_move_blocks({8, 3}));        // no arena's
  EXPECT_FALSE(numbers_move_blocks({6, 0, 1}));     // arena.0.decay of 4.2
  EXPECT_FALSE(numbers_move_blocks({7, 2}));        // tcache.destroy
  EXPECT_FALSE(numbers_move_blocks({4, 5, 1}));     // thread.tcache.flush
  EXPECT_FALSE(numbers_move_blocks({12, 1, 0}));    // experimental.utilization.query
  EXPECT_FALSE(numbers_move_blocks({8, 0, 3, 0}));  // nothing has four
}

}  // namespace
