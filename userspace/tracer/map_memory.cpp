#include "userspace/tracer/map_memory.h"

#include <fmt/core.h>

#include <string>

#include "userspace/base/process_file.h"
#include "userspace/process/process_fields.h"

namespace hawk {
namespace {

constexpr unsigned kArenaType = 33;  // BPF_MAP_TYPE_ARENA, which Linux has from 6.9 on

}  // namespace

std::uint64_t map_memory_bytes(std::span<const int> maps) {
  std::uint64_t bytes = 0;
  for (const int map : maps) {
    const Result<std::string> info = read_whole_file(fmt::format("/proc/self/fdinfo/{}", map));
    if (!info || leading_number<unsigned>(status_field(*info, "map_type")) == kArenaType) continue;
    bytes += leading_number<std::uint64_t>(status_field(*info, "memlock")).value_or(0);
  }
  return bytes;
}

}  // namespace hawk
