#include "symbolizer/unit_cache.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace hawk {

DwarfUnit* UnitCache::at(std::uint64_t offset) {
  const auto [found, is_new] = units_.try_emplace(offset);
  Cached& cached = found->second;
  if (is_new) {
    const std::optional<UnitHeader> header = UnitHeader::at(sections_.info, offset);
    if (header) cached.unit = std::make_unique<DwarfUnit>(sections_, *header);
  }
  cached.last_use = ++uses_;
  last_offset_ = offset;
  return cached.unit.get();
}

void UnitCache::trim(std::size_t budget_bytes) {
  const auto last = units_.find(last_offset_);
  if (last == units_.end() || !last->second.unit) return;
  // Only a unit that is asked grows.
  const std::size_t bytes = last->second.unit->memory_bytes();
  total_bytes_ += bytes - last->second.counted_bytes;
  last->second.counted_bytes = bytes;
  if (total_bytes_ > budget_bytes) drop_oldest(budget_bytes);
}

void UnitCache::drop_oldest(std::size_t budget_bytes) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> by_use;
  by_use.reserve(units_.size());
  for (const auto& [offset, cached] : units_) by_use.emplace_back(cached.last_use, offset);
  std::sort(by_use.begin(), by_use.end());
  for (const auto& [use, offset] : by_use) {
    if (total_bytes_ <= budget_bytes - budget_bytes / 4) return;
    if (offset == last_offset_) continue;
    const auto found = units_.find(offset);
    total_bytes_ -= found->second.counted_bytes;
    units_.erase(found);
  }
}

}  // namespace hawk
