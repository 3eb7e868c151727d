#include "bpf/allocator_control.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

namespace {

bool moves_blocks(const char* name) {
  std::array<char, HAWK_CONTROL_NAME_BYTES> bytes = {};
  std::strncpy(bytes.data(), name, bytes.size() - 1);
  return hawk_moves_blocks(bytes.data()) != 0;
}

TEST(AllocatorControl, KnowsThoseThatMoveBlocks) {
  for (const char* name : {"arena.0.reset", "arena.17.destroy", "arena.4096.reset", "arena.4294967295.destroy",
                           "experimental.batch_alloc"}) {
    EXPECT_TRUE(moves_blocks(name)) << name;
  }
}

TEST(AllocatorControl, LeavesAllOthersAlone) {
  for (const char* name : {"", "a", "epoch", "arena", "arena.", "arena.0", "arena.0.", "arena.0.purge", "arena.0.decay",
                           "arenas.create", "arenas.bin.0.size", "stats.arenas.0.reset", "arena.0.retain_grow_limit",
                           "thread.tcache.flush", "prof.reset", "experimental.utilization.query",
                           "99999999999999999999999999999999", "arena.99999999999999999999999999.reset"}) {
    EXPECT_FALSE(moves_blocks(name)) << name;
  }
}

}  // namespace
