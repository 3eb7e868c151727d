#pragma once

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
