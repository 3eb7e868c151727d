#include "userspace/tables/region_table.h"

#include <algorithm>
#include <iterator>

namespace hawk {

void AddressSet::add(AddressRange range) {
  if (range.start >= range.end) return;
  auto next = ranges_.upper_bound(range.start);
  if (next != ranges_.begin() && std::prev(next)->second >= range.start) {
    --next;
    range.start = next->first;
  }
  while (next != ranges_.end() && next->first <= range.end) {
    range.end = std::max(range.end, next->second);
    next = ranges_.erase(next);
  }
  ranges_.emplace(range.start, range.end);
}

std::vector<AddressRange> AddressSet::missing_of(AddressRange range) const {
  std::vector<AddressRange> missing;
  auto next = ranges_.upper_bound(range.start);
  if (next != ranges_.begin()) --next;
  for (; next != ranges_.end() && next->first < range.end; ++next) {
    if (range.start < next->first) missing.push_back({range.start, next->first});
    range.start = std::max(range.start, next->second);
  }
  if (range.start < range.end) missing.push_back(range);
  return missing;
}

/// The first region that ends behind `address`.
RegionTable::Regions::iterator RegionTable::first_behind(std::uint64_t address) {
  const auto next = regions_.upper_bound(address);
  return next != regions_.begin() && std::prev(next)->second.end > address ? std::prev(next) : next;
}

void RegionTable::touch(AddressRange range) {
  if (!is_settled_) touched_.add(range);
}

std::vector<AddressRange> RegionTable::unmapped_parts(AddressRange range) {
  std::vector<AddressRange> parts;
  for (auto next = first_behind(range.start); range.start < range.end; ++next) {
    const std::uint64_t mapped_at = next == regions_.end() ? range.end : std::min(range.end, next->first);
    if (range.start < mapped_at) parts.push_back({range.start, mapped_at});
    if (mapped_at == range.end) break;
    range.start = next->second.end;
  }
  return parts;
}

/// Nothing is mapped there.
void RegionTable::insert(AddressRange range, const RegionOwner& owner) {
  RegionCounters& counters = owners_[owner];
  counters.mapped_bytes += range.end - range.start;
  ++counters.regions;
  auto above = regions_.lower_bound(range.start);
  if (above != regions_.end() && above->first == range.end && above->second.owner == owner) {
    range.end = above->second.end;
    above = regions_.erase(above);
    --counters.regions;
  }
  if (above != regions_.begin()) {
    Region& below = std::prev(above)->second;
    if (below.end == range.start && below.owner == owner) {
      below.end = range.end;
      --counters.regions;
      return;
    }
  }
  regions_.emplace_hint(above, range.start, Region{range.end, owner});
}

void RegionTable::map(AddressRange range, const RegionOwner& owner) {
  if (range.start >= range.end) return;
  touch(range);
  const std::vector<AddressRange> parts = unmapped_parts(range);
  for (const AddressRange& part : parts) insert(part, owner);
  if (!parts.empty()) ++owners_[owner].mapped_count;
}

void RegionTable::grow(AddressRange range, const RegionOwner& owner) {
  if (range.start >= range.end) return;
  const auto last = first_behind(range.end - 1);
  const bool has_owner = last != regions_.end() && last->first < range.end;
  const RegionOwner above = has_owner ? last->second.owner : owner;  // its region may become a part of another
  map(range, above);
}

void RegionTable::unmap(AddressRange range) {
  if (range.start >= range.end) return;
  touch(range);
  for (auto next = first_behind(range.start); next != regions_.end() && next->first < range.end;) {
    const AddressRange whole = {next->first, next->second.end};
    const RegionOwner owner = next->second.owner;
    const AddressRange gone = {std::max(whole.start, range.start), std::min(whole.end, range.end)};
    RegionCounters& counters = owners_[owner];
    counters.unmapped_bytes += gone.end - gone.start;
    --counters.regions;
    next = regions_.erase(next);
    if (whole.start < gone.start) {
      regions_.emplace_hint(next, whole.start, Region{gone.start, owner});
      ++counters.regions;
    }
    if (gone.end < whole.end) {
      next = regions_.emplace_hint(next, gone.end, Region{whole.end, owner});
      ++counters.regions;
    }
  }
}

void RegionTable::add_older(const std::vector<KnownRegion>& known) {
  for (const KnownRegion& region : known) {
    const RegionOwner owner = {.stack = 0, .kind = region.kind, .origin = RegionOrigin::kOlder};
    const std::vector<AddressRange> parts = unmapped_parts(region.range);
    for (const AddressRange& part : parts) insert(part, owner);
    if (!parts.empty()) ++owners_[owner].mapped_count;
  }
}

RegionTable RegionTable::of_announced() {
  RegionTable table;
  table.is_settled_ = true;
  return table;
}

RegionTable RegionTable::copied() const {
  RegionTable copy;
  std::vector<KnownRegion> known;
  for (const auto& [start, region] : regions_) known.push_back({{start, region.end}, region.owner.kind});
  copy.add_older(known);
  copy.is_settled_ = is_settled_;
  return copy;
}

void RegionTable::settle(const std::vector<KnownRegion>& known) {
  AddressSet right = touched_;  // where the table is
  std::vector<KnownRegion> untouched;
  for (const KnownRegion& region : known) {
    for (const AddressRange& part : touched_.missing_of(region.range)) untouched.push_back({part, region.kind});
    right.add(region.range);
  }
  std::vector<AddressRange> gone;
  for (const auto& [start, region] : regions_) {
    const std::vector<AddressRange> parts = right.missing_of({start, region.end});
    gone.insert(gone.end(), parts.begin(), parts.end());
  }
  touched_.clear();
  is_settled_ = true;
  for (const AddressRange& part : gone) unmap(part);
  add_older(untouched);
}

void RegionTable::unsettle() {
  is_settled_ = false;
  touched_.clear();
}

}  // namespace hawk
