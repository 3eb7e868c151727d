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

/// Calls `visit` with every entry of a hash map, a batch at a time.
Result<void> for_each_block(int fd, const std::function<void(const hawk_block_key&, const hawk_block&)>& visit) {
  std::vector<hawk_block_key> keys(16384);
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
void for_each_slot(std::span<const hawk_live_page> pages,
                   const std::function<void(std::uint32_t, std::uint64_t)>& visit) {
  for (const hawk_live_page& page : pages) {
    for (const hawk_bucket& bucket : page.buckets) {
      for (std::size_t slot = 0; slot < HAWK_BUCKET_SLOTS; ++slot) {
        if (bucket.low[slot] == 0) continue;
        visit(bucket.high_and_stack[slot] & HAWK_SLOT_STACK_MASK, bucket.size_bytes[slot]);
      }
    }
  }
}

}  // namespace

Result<bool> live_table_agrees(const LiveBlocks& blocks, const KernelMaps& maps, const hawk_target& target,
                               const Drained& drained) {
  const std::span<const hawk_stack_record> records = maps.stack_records.as<hawk_stack_record>();
  std::unordered_map<std::uint32_t, Pending> table;
  const auto add = [&](std::uint32_t stack, std::uint64_t size_bytes) {
    if (records[stack].program != target.program) return;
    Pending& sum = table[stack];
    sum.bytes += size_bytes;
    sum.count += 1;
  };
  for_each_slot(blocks.arena, add);
  for (const int fd : blocks.hash_fds) {
    HAWK_TRY_VOID(for_each_block(
        fd, [&](const hawk_block_key&, const hawk_block& block) { add(block.stack, block.size_bytes); }));
  }
  Pending missing;
  for (const StackCounters& stack : drained.counters) {
    const std::uint32_t number = stack.id == kNoStack ? target.no_stack : static_cast<std::uint32_t>(stack.id);
    const Pending held = table[number];
    if (held.count > stack.counters.live_count() || held.bytes > stack.counters.live_bytes()) return false;
    table.erase(number);
    missing.count += stack.counters.live_count() - held.count;
    missing.bytes += stack.counters.live_bytes() - held.bytes;
  }
  return table.empty() && missing == pending_on(maps, target.reserved_numbers + HAWK_IN_HAND);
}

Result<std::set<std::uint32_t>> programs_with_blocks(const LiveBlocks& blocks, const KernelMaps& maps,
                                                     const std::set<std::uint32_t>& programs) {
  std::set<std::uint32_t> found;
  if (programs.empty()) return found;
  const std::span<const hawk_stack_record> records = maps.stack_records.as<hawk_stack_record>();
  for_each_slot(blocks.arena, [&](std::uint32_t stack, std::uint64_t) {
    const std::uint32_t program = records[stack].program;
    if (programs.contains(program)) found.insert(program);
  });
  for (const int fd : blocks.hash_fds) {
    HAWK_TRY_VOID(for_each_block(fd, [&](const hawk_block_key& key, const hawk_block&) {
      if (programs.contains(key.program)) found.insert(key.program);
    }));
  }
  return found;
}

Result<void> drop_blocks_of_ended(int hash_fd, const std::function<bool(std::uint32_t)>& lives,
                                  const std::function<void(const hawk_block_key&)>& dropped) {
  std::vector<hawk_block_key> ended;
  HAWK_TRY_VOID(for_each_block(hash_fd, [&](const hawk_block_key& key, const hawk_block&) {
    if (!lives(key.program)) ended.push_back(key);
  }));
  for (const hawk_block_key& key : ended) {
    if (bpf_map_delete_elem(hash_fd, &key) == 0) dropped(key);
  }
  return {};
}

}  // namespace hawk
