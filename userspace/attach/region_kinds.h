#pragma once

#include "userspace/process/mappings.h"
#include "userspace/tables/regions.h"

namespace hawk {

/// What a mapping is made of, as far as /proc/PID/maps says.
RegionKind region_kind_of(const Mapping& mapping);

}  // namespace hawk
