#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <vector>

#include "bpf/layout.h"
#include "bpf/live/bucket.h"
#include "userspace/base/result.h"

namespace hawk {

/// The live table.
struct LiveBlocks {
  std::vector<int> hash_fds = {};              ///< the map live_blocks and its reserve
  std::span<const hawk_live_page> arena = {};  ///< empty: the hash maps hold all
};

/// A block as the live table has it.
struct LiveBlock {
  std::uint32_t stack = 0;
  std::uint64_t size_bytes = 0;
  std::uint32_t born = 0;  ///< a stamp
};

/// A bucket between two changes. Programs change one within some ten nanoseconds, with its lock held.
inline hawk_bucket settled_copy(const hawk_bucket& bucket) {
  constexpr int kAttempts = 1000;  // a virtual CPU that is not scheduled may hold the lock for longer
  hawk_bucket before;
  hawk_bucket now;
  std::memcpy(&before, &bucket, sizeof(before));
  for (int i = 0; i < kAttempts; ++i) {
    std::atomic_signal_fence(std::memory_order_acq_rel);
    std::memcpy(&now, &bucket, sizeof(now));
    if ((now.lock_and_displaced & HAWK_LOCKED) == 0 && std::memcmp(&before, &now, sizeof(now)) == 0) break;
    before = now;
  }
  return now;
}

/// Calls `visit` with every block in the arena. One that is moved meanwhile, because the table grows or shrinks, can be
/// met twice or not at all.
template <class Visit>
void for_each_slot(std::span<const hawk_live_page> pages, const Visit& visit) {
  for (const hawk_live_page& page : pages) {
    for (const hawk_bucket& shared : page.buckets) {
      const hawk_bucket bucket = settled_copy(shared);
      for (std::size_t slot = 0; slot < HAWK_BUCKET_SLOTS; ++slot) {
        if (bucket.low[slot] == 0) continue;
        visit(LiveBlock{.stack = bucket.high_and_stack[slot] & HAWK_SLOT_STACK_MASK,
                        .size_bytes = hawk_size_of_pair(bucket.size_and_born[slot]),
                        .born = hawk_born_of_pair(bucket.size_and_born[slot], bucket.born_high[slot])});
      }
    }
  }
}

/// Calls `visit` with every entry of a hash map, a batch at a time.
Result<void> for_each_entry(int fd, const std::function<void(const hawk_block_key&, const hawk_block&)>& visit);

/// Calls `visit` with every block in both.
template <class Visit>
Result<void> for_each_block(const LiveBlocks& blocks, const Visit& visit) {
  for_each_slot(blocks.arena, visit);
  for (const int fd : blocks.hash_fds) {
    HAWK_TRY_VOID(for_each_entry(fd, [&](const hawk_block_key&, const hawk_block& block) {
      visit(LiveBlock{
          .stack = block.stack, .size_bytes = block.size_bytes, .born = static_cast<std::uint32_t>(block.born)});
    }));
  }
  return {};
}

}  // namespace hawk
