#include "userspace/tracer/live_table_check.h"

#include <bpf/bpf.h>

#include <functional>
#include <unordered_map>
#include <vector>

namespace hawk {
Result<bool> live_table_agrees(const LiveBlocks& blocks, const KernelMaps& maps, const hawk_target& target,
                               std::span<const StackCounters> counters) {
  const std::span<const hawk_stack_record> records = maps.stack_records.as<hawk_stack_record>();
  std::unordered_map<std::uint32_t, Pending> table;
  HAWK_TRY_VOID(for_each_block(blocks, [&](const LiveBlock& block) {
    if (records[block.stack].program != target.program) return;
    Pending& sum = table[block.stack];
    sum.bytes += block.size_bytes;
    sum.count += 1;
  }));
  Pending missing;
  for (const StackCounters& stack : counters) {
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
  for_each_slot(blocks.arena, [&](const LiveBlock& block) {
    const std::uint32_t program = records[block.stack].program;
    if (programs.contains(program)) found.insert(program);
  });
  for (const int fd : blocks.hash_fds) {
    HAWK_TRY_VOID(for_each_entry(fd, [&](const hawk_block_key& key, const hawk_block&) {
      if (programs.contains(key.program)) found.insert(key.program);
    }));
  }
  return found;
}

Result<void> drop_blocks_of_ended(int hash_fd, const std::function<bool(std::uint32_t)>& lives,
                                  const std::function<void(const hawk_block_key&)>& dropped) {
  std::vector<hawk_block_key> ended;
  HAWK_TRY_VOID(for_each_entry(hash_fd, [&](const hawk_block_key& key, const hawk_block&) {
    if (!lives(key.program)) ended.push_back(key);
  }));
  for (const hawk_block_key& key : ended) {
    if (bpf_map_delete_elem(hash_fd, &key) == 0) dropped(key);
  }
  return {};
}

}  // namespace hawk
