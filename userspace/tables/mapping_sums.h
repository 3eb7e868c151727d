#pragma once

#include <array>
#include <vector>

#include "userspace/tables/snapshot.h"

namespace hawk {

/// What is mapped, by kind and origin. The sums of live bytes by kind are those of /proc/PID/smaps.
struct MappingSums {
  std::array<std::array<RegionCounters, kRegionOrigins>, kRegionKinds> by = {};

  const RegionCounters& of(RegionKind kind, RegionOrigin origin) const {
    return by[static_cast<std::size_t>(kind)][static_cast<std::size_t>(origin)];
  }
  RegionCounters of(RegionKind kind) const;
  RegionCounters of(RegionOrigin origin) const;
  RegionCounters all() const;
};

MappingSums mapping_sums(const std::vector<MappedStack>& mappings);

}  // namespace hawk
