#include "userspace/tracer/map_memory.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "userspace/base/process_file.h"
#include "userspace/process/process_fields.h"

namespace hawk {
namespace {

constexpr unsigned kArenaType = 33;  // BPF_MAP_TYPE_ARENA, which Linux has from 6.9 on

}  // namespace

std::optional<std::uint64_t> map_memory_bytes(int map) {
  const Result<std::string> info = read_whole_file(fmt::format("/proc/self/fdinfo/{}", map));
  if (!info) return std::nullopt;
  if (leading_number<unsigned>(status_field(*info, "map_type")) == kArenaType) return 0;
  return leading_number<std::uint64_t>(status_field(*info, "memlock"));
}

std::uint64_t FixedMapsMemory::bytes(std::span<const int> maps) {
  known_.resize(std::min(known_.size(), maps.size()));
  while (known_.size() < maps.size()) {
    const std::optional<std::uint64_t> of_next = map_memory_bytes(maps[known_.size()]);
    if (!of_next) break;
    known_.push_back(*of_next);
  }
  return std::accumulate(known_.begin(), known_.end(), std::uint64_t{0});
}

}  // namespace hawk
