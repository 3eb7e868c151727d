#include "userspace/tables/mapping_sums.h"

namespace hawk {

RegionCounters MappingSums::of(RegionKind kind) const {
  RegionCounters sum;
  for (const RegionCounters& counters : by[static_cast<std::size_t>(kind)]) add(sum, counters);
  return sum;
}

RegionCounters MappingSums::of(RegionOrigin origin) const {
  RegionCounters sum;
  for (const auto& of_kind : by) add(sum, of_kind[static_cast<std::size_t>(origin)]);
  return sum;
}

RegionCounters MappingSums::all() const {
  RegionCounters sum;
  for (std::size_t kind = 0; kind < kRegionKinds; ++kind) add(sum, of(static_cast<RegionKind>(kind)));
  return sum;
}

MappingSums mapping_sums(const std::vector<MappedStack>& mappings) {
  MappingSums sums;
  for (const MappedStack& mapped : mappings) {
    add(sums.by[static_cast<std::size_t>(mapped.kind)][static_cast<std::size_t>(mapped.origin)], mapped.counters);
  }
  return sums;
}

}  // namespace hawk
