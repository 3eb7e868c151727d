#include "userspace/tracer/live_table_check.h"

#include <bpf/bpf.h>
#include <fmt/core.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <unordered_map>
#include <vector>

#include "userspace/base/system_failure.h"

namespace hawk {
namespace {

constexpr std::uint64_t kAddressBits = (std::uint64_t{1} << HAWK_EPOCH_SHIFT) - 1;

bool is_older(const hawk_block& block, std::uint32_t epoch) {
  return static_cast<std::int32_t>(block.exec_epoch - epoch) < 0;
}

/// Calls `visit` with every entry of a hash map, a batch at a time.
Result<void> for_each_block(int fd, const std::function<void(__u64, const hawk_block&)>& visit) {
  std::vector<__u64> keys(16384);
  std::vector<hawk_block> blocks(keys.size());
  __u64 position = 0;
  bool first = true;
  for (;;) {
    __u32 count = static_cast<__u32>(keys.size());
    const int error =
        bpf_map_lookup_batch(fd, first ? nullptr : &position, &position, keys.data(), blocks.data(), &count, nullptr);
    const int reason = errno;
    if (error != 0 && reason == ENOSPC) {  // one bucket holds more than the batch
      keys.resize(keys.size() * 2);
      blocks.resize(keys.size());
      continue;
    }
    if (error != 0 && reason != ENOENT) {
      return system_failure(ExitCode::kPrivilege, "read the live table", reason);
    }
    for (__u32 i = 0; i < count; ++i) visit(keys[i], blocks[i]);
    if (error != 0) return {};
    first = false;
  }
}

/// Calls `visit` with stack number and size of every block in the arena.
void for_each_slot(std::span<const hawk_live_page> pages, std::uint32_t epoch,
                   const std::function<void(std::uint32_t, std::uint64_t)>& visit) {
  for (const hawk_live_page& page : pages) {
    for (const hawk_bucket& bucket : page.buckets) {
      if (bucket.epoch != static_cast<__u16>(epoch)) continue;
      for (std::size_t slot = 0; slot < HAWK_BUCKET_SLOTS; ++slot) {
        if (bucket.low[slot] == 0) continue;
        visit(bucket.high_and_stack[slot] & HAWK_SLOT_STACK_MASK, bucket.size_bytes[slot]);
      }
    }
  }
}

}  // namespace

Result<bool> live_table_agrees(const LiveBlocks& blocks, const KernelMaps& maps, const Drained& drained) {
  std::unordered_map<std::uint32_t, Pending> table;
  const auto add = [&](std::uint32_t stack, std::uint64_t size_bytes) {
    Pending& sum = table[stack];
    sum.bytes += size_bytes;
    sum.count += 1;
  };
  for_each_slot(blocks.arena, drained.exec_epoch, add);
  for (const int fd : blocks.hash_fds) {
    HAWK_TRY_VOID(for_each_block(fd, [&](__u64, const hawk_block& block) {
      if (block.exec_epoch == drained.exec_epoch) add(block.stack, block.size_bytes);
    }));
  }
  Pending missing;
  for (const StackCounters& stack : drained.counters) {
    const std::uint32_t number = static_cast<std::uint32_t>(stack.id);
    const hawk_stack_record& record = maps.stack_records.as<hawk_stack_record>()[number];
    if (stack.id != kNoStack && record.exec_epoch != drained.exec_epoch) continue;
    const Pending held = table[number];
    if (held.count > stack.counters.live_count() || held.bytes > stack.counters.live_bytes()) return false;
    table.erase(number);
    // All programs share the number of blocks without a stack, and the table has those of the last one only.
    if (stack.id == kNoStack && drained.exec_epoch != 0) continue;
    missing.count += stack.counters.live_count() - held.count;
    missing.bytes += stack.counters.live_bytes() - held.bytes;
  }
  const bool all_known = table.empty() || (table.size() == 1 && table.begin()->second == Pending{});
  return all_known && missing == pending_on(maps, HAWK_IN_HAND);
}

Result<std::uint64_t> drop_old_epochs(int hash_fd, std::uint32_t current_epoch,
                                      const std::function<void(std::uint64_t)>& dropped) {
  std::vector<__u64> old;
  HAWK_TRY_VOID(for_each_block(hash_fd, [&](__u64 key, const hawk_block& block) {
    if (is_older(block, current_epoch)) old.push_back(key);
  }));
  std::uint64_t taken_away = 0;
  for (const __u64 key : old) {
    hawk_block block = {};
    if (bpf_map_lookup_and_delete_elem(hash_fd, &key, &block) != 0) continue;
    if (is_older(block, current_epoch)) {
      dropped(key & kAddressBits);
    } else {  // 256 programs later, between the look and the removal
      ++taken_away;
      bpf_map_update_elem(hash_fd, &key, &block, BPF_NOEXIST);
    }
  }
  return taken_away;
}

}  // namespace hawk
