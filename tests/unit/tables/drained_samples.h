#pragma once

#include <cstdint>
#include <vector>

#include "tests/unit/tables/kernel_frames.h"
#include "userspace/tables/drained.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// A frame in no file.
inline Location resolve_nothing(std::uint64_t address) {
  return {.address = address, .module = std::nullopt, .module_offset = 0};
}

inline Location resolve_to_module_3(std::uint64_t address) {
  return {.address = address, .module = ModuleId{3}, .module_offset = address - 0x1000};
}

/// Of frames as the kernel has them.
inline NewStack stack(std::uint32_t id, const std::vector<std::uint64_t>& words) {
  static KernelFrames kernel;
  return {.id = StackId{id}, .frames = kernel.frames(words)};
}

/// Of blocks of 8 bytes.
inline StackCounters counters(std::uint32_t id, std::uint64_t allocated_bytes, std::uint64_t freed_bytes) {
  return {.id = StackId{id},
          .counters = {.allocated_bytes = allocated_bytes,
                       .allocated_count = allocated_bytes / 8,
                       .freed_bytes = freed_bytes,
                       .freed_count = freed_bytes / 8}};
}

/// From the innermost frame on.
inline std::vector<std::uint64_t> addresses_of(const Snapshot& snapshot, const StackRecord& record) {
  std::vector<std::uint64_t> addresses;
  for (const LocationId location : record.frames) addresses.push_back(snapshot.location(location).address);
  return addresses;
}

}  // namespace hawk
