#pragma once

#include <algorithm>
#include <tuple>
#include <vector>

#include "userspace/recording/byte_stream.h"
#include "userspace/recording/recording.h"
#include "userspace/tables/snapshot.h"

/// The fields of a snapshot's parts in the order of the format, for ByteWriter and ByteReader alike. `Of`: the value,
/// const where it is written. What is appended to a list here changes the format: README.md says how.
namespace hawk::recording {

template <class Bytes, class Of>
void function_fields(Bytes& bytes, Of& function) {
  bytes.text(function.name);
  bytes.list(function.aliases, [&](auto& alias) { bytes.text(alias); });
  bytes.number(function.file_offset);
  bytes.number(function.probe_offset);
  bytes.text(function.instruction);
  bytes.flag(function.single_stepped);
  bytes.optional(function.cost_ns, [&](auto& cost) { bytes.number(cost); });
}

template <class Bytes, class Of>
void allocator_fields(Bytes& bytes, Of& allocator) {
  bytes.text(allocator.path);
  bytes.text(allocator.build_id);
  bytes.list(allocator.functions, [&](auto& function) { function_fields(bytes, function); });
}

template <class Bytes, class Of>
void target_fields(Bytes& bytes, Of& target) {
  bytes.number(target.pid);
  bytes.text(target.comm);
  bytes.text(target.exe);
  bytes.list(target.allocators, [&](auto& allocator) { allocator_fields(bytes, allocator); });
  bytes.flag(target.is_go);
}

/// All but the duration, which every interval has.
template <class Bytes, class Of>
void trace_fields(Bytes& bytes, Of& trace) {
  bytes.text(trace.attach_via);
  bytes.text(trace.live_table);
  bytes.text(trace.unwind);
  bytes.number(trace.min_block_bytes);
  bytes.flag(trace.from_start);
  bytes.number(trace.start_unix_ns);
  bytes.number(trace.interval_ns);
  bytes.text(trace.kernel);
  bytes.flag(trace.target_exited);
  bytes.number(trace.exec_count);
  bytes.flag(trace.limits.may_raise_blocks);
  bytes.flag(trace.limits.may_raise_stacks);
  bytes.flag(trace.limits.may_raise_depth);
  bytes.flag(trace.limits.has_max_memory);
  bytes.optional(trace.verified, [&](auto& verified) { bytes.flag(verified); });
}

template <class Bytes, class Of>
void children_fields(Bytes& bytes, Of& children) {
  bytes.number(children.without_exec);
  bytes.list(children.programs, [&](auto& program) {
    bytes.text(program.comm);
    bytes.number(program.count);
  });
}

template <class Bytes, class Of>
void memory_fields(Bytes& bytes, Of& memory) {
  bytes.number(memory.resident_bytes);
  bytes.number(memory.anonymous_bytes);
  bytes.number(memory.swapped_bytes);
  bytes.number(memory.live_bytes);
}

template <class Bytes, class Of>
void usage_fields(Bytes& bytes, Of& usage) {
  bytes.number(usage.cpu_ns);
  bytes.number(usage.peak_resident_bytes);
  bytes.number(usage.table_bytes);
  bytes.optional(usage.target_cpu_ns, [&](auto& cpu_ns) { bytes.number(cpu_ns); });
}

/// The number of a stack, which is that of the one before or a later one.
template <class Bytes, class Of>
void next_stack_fields(Bytes& bytes, Of& id, StackId& before) {
  const auto last = static_cast<std::uint32_t>(before);
  if constexpr (Bytes::kReads) {
    std::uint32_t more = 0;
    bytes.number(more);
    id = static_cast<StackId>(last + more);
  } else {
    bytes.number(static_cast<std::uint32_t>(id) - last);
  }
  before = id;
}

/// Those of the numbers that are not 0.
template <class Bytes, class Of>
void sparse_fields(Bytes& bytes, Of& numbers) {
  if constexpr (Bytes::kReads) {
    for (std::uint64_t left = bytes.number_below(numbers.size() + 1); left > 0 && bytes.is_good(); --left) {
      std::uint64_t& number = numbers[bytes.number_below(numbers.size())];
      bytes.number(number);
    }
  } else {
    std::uint64_t used = 0;
    for (const std::uint64_t number : numbers) used += number != 0 ? 1 : 0;
    bytes.number(used);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (numbers[i] == 0) continue;
      bytes.number(i);
      bytes.number(numbers[i]);
    }
  }
}

template <class Bytes, class Of>
void histogram_fields(Bytes& bytes, Of& histograms) {
  sparse_fields(bytes, histograms.sizes);
  sparse_fields(bytes, histograms.lifetimes);
  bytes.number(histograms.temporary);
  bytes.number(histograms.freed_by_others);
}

/// Those of one stack follow each other.
inline void put_lives(ByteWriter& bytes, const std::vector<StackLives>& lives) {
  std::uint64_t stacks = 0;
  StackId before = kNoStack;
  ByteWriter all;
  for (auto own = lives.begin(); own != lives.end(); ++stacks) {
    const StackId stack = own->stack;
    BlockHistograms histograms;
    for (; own != lives.end() && own->stack == stack; ++own) histograms += *own;
    next_stack_fields(all, stack, before);
    histogram_fields(all, histograms);
  }
  bytes.number(stacks);
  bytes.raw(all.bytes());
}

inline void take_lives(ByteReader& bytes, std::vector<StackLives>& lives) {
  StackId before = kNoStack;
  for (std::uint64_t left = bytes.count(0); left > 0 && bytes.is_good(); --left) {
    StackId stack = kNoStack;
    next_stack_fields(bytes, stack, before);
    BlockHistograms histograms;
    histogram_fields(bytes, histograms);
    const std::size_t known = lives.size();
    histograms.append_to(lives, stack);
    if (!bytes.spend((lives.size() - known) * sizeof(StackLives))) return;
  }
  const auto is_out_of_order = [](const StackLives& a, const StackLives& b) {
    return std::tie(a.stack, a.number) >= std::tie(b.stack, b.number);
  };
  if (std::adjacent_find(lives.begin(), lives.end(), is_out_of_order) != lives.end()) bytes.fail();
}

template <class Bytes, class Of>
void threads_fields(Bytes& bytes, Of& threads) {
  StackId before = kNoStack;
  bytes.list(threads.shares, [&](auto& share) {
    next_stack_fields(bytes, share.stack, before);
    bytes.number(share.tid);
    bytes.number(share.counters.allocated_bytes);
    bytes.number(share.counters.allocated_count);
    bytes.number(share.counters.freed_bytes);
    bytes.number(share.counters.freed_count);
    bytes.number(share.freed_by_others);
  });
  bytes.list(threads.names, [&](auto& name) {
    bytes.number(name.tid);
    bytes.text(name.name);
  });
}

/// Blocks of one stack follow each other.
template <class Bytes, class Of>
void ages_fields(Bytes& bytes, Of& ages) {
  bytes.number(ages.now_ms);
  bytes.list(ages.marks_ms, [&](auto& mark) { bytes.number(mark); });
  AgedBlocks before;
  bytes.list(ages.blocks, [&](auto& aged) {
    const auto stack_before = static_cast<std::uint32_t>(before.stack);
    if constexpr (Bytes::kReads) {
      aged.stack = static_cast<StackId>(stack_before + static_cast<std::uint32_t>(bytes.difference()));
      aged.born_ms = before.born_ms + bytes.difference();
    } else {
      bytes.difference(static_cast<std::uint64_t>(aged.stack) - stack_before);
      bytes.difference(aged.born_ms - before.born_ms);
    }
    bytes.number(aged.bytes);
    bytes.number(aged.count);
    before = aged;
  });
}

template <class Bytes, class Of>
void thread_fields(Bytes& bytes, Of& event) {
  bytes.number(event.time_ns);
  bytes.number(event.tid);
  bytes.optional(event.name, [&](auto& name) { bytes.text(name); });
}

template <class Bytes, class Of>
void module_fields(Bytes& bytes, Of& module) {
  bytes.text(module.path);
  bytes.text(module.build_id);
}

/// The number of a module, which must be one of `count`.
template <class Bytes, class Of>
void module_id_fields(Bytes& bytes, Of& id, std::size_t count) {
  if constexpr (Bytes::kReads) {
    id = static_cast<ModuleId>(bytes.number_below(count));
  } else {
    bytes.number(static_cast<std::uint64_t>(id));
  }
}

template <class Bytes, class Of>
void mapping_fields(Bytes& bytes, Of& code, std::size_t modules) {
  module_id_fields(bytes, code.module, modules);
  bytes.number(code.start);
  bytes.number(code.end);
  bytes.number(code.file_offset);
}

template <class Bytes, class Of>
void unwind_fields(Bytes& bytes, Of& unwind, std::size_t modules) {
  bytes.list(unwind.unsupported_rules, [&](auto& rules) {
    module_id_fields(bytes, rules.module, modules);
    bytes.text(rules.reason);
    bytes.number(rules.rows);
  });
  bytes.list(unwind.modules_without_table, [&](auto& module) { module_id_fields(bytes, module, modules); });
}

}  // namespace hawk::recording
