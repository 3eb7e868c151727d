#include "userspace/tracer/kernel_maps.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstring>

#include "userspace/base/system_failure.h"

namespace hawk {

Result<MappedArray> MappedArray::make(int map_fd, std::size_t bytes, const char* name) {
  void* data = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, map_fd, 0);
  if (data == MAP_FAILED) {
    return system_failure(ExitCode::kPrivilege, fmt::format("map the BPF array {}", name), errno);
  }
  return MappedArray(data, bytes);
}

Pending pending_on(const KernelMaps& maps, std::uint32_t reserved_number) {
  Pending sum;
  const std::span<const hawk_counters> all = maps.counters.as<hawk_counters>();
  for (std::size_t stripe = 0; stripe <= maps.config.cpu_mask; ++stripe) {
    const hawk_counters& counters = all[stripe * maps.config.max_stacks + reserved_number];
    sum.bytes += counters.allocated_bytes - counters.freed_bytes;
    sum.count += counters.allocated_count - counters.freed_count;
  }
  return sum;
}

}  // namespace hawk
