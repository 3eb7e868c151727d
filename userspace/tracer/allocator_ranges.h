#pragma once

#include <cstdint>
#include <vector>

#include "bpf/layout.h"
#include "userspace/base/address_range.h"

namespace hawk {

/// Marks the target as one whose files with allocators are not all known.
void forget_allocator_ranges(hawk_target& target);

/// What to read before the process's mappings are, from which the ranges follow.
std::uint32_t allocators_mapped(const hawk_target& target);

/// Sets where all files with allocators are mapped, unless one was mapped since `mapped` (allocators_mapped) was read:
/// then they stay forgotten, as the programs have forgotten them, until that mapping is known. If there are more than
/// the table holds, or none, not all are known, which is also what programs see while the table is rewritten. Ranges
/// that are set already are left as they are.
void set_allocator_ranges(hawk_target& target, const std::vector<AddressRange>& ranges, std::uint32_t mapped);

}  // namespace hawk
