#include "userspace/tables/regions.h"

#include <array>

namespace hawk {

std::string_view region_kind_name(RegionKind kind) {
  constexpr std::array<std::string_view, kRegionKinds> kNames = {"anonymous", "brk", "stack", "file",
                                                                 "shared",    "shm", "kernel"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view region_origin_name(RegionOrigin origin) {
  constexpr std::array<std::string_view, kRegionOrigins> kNames = {"program", "allocator", "older"};
  return kNames[static_cast<std::size_t>(origin)];
}

bool add(RegionCounters& sum, const RegionCounters& more) {
  for (const auto number : {&RegionCounters::mapped_bytes, &RegionCounters::mapped_count,
                            &RegionCounters::unmapped_bytes, &RegionCounters::regions}) {
    if (__builtin_add_overflow(sum.*number, more.*number, &(sum.*number))) return false;
  }
  return true;
}

}  // namespace hawk
