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
    const std::optional<UnitHeader> header = UnitHeader::at(info_, offset);
    if (header) cached.unit = std::make_unique<DwarfUnit>(sections_, info_, *header);
  }
  cached.last_use = ++uses_;
  if (asked_.empty() || asked_.back() != offset) asked_.push_back(offset);
  return cached.unit.get();
}

void UnitCache::find_units() {
  for (std::uint64_t offset = 0; const std::optional<UnitHeader> header = UnitHeader::at(info_, offset);) {
    starts_.push_back(offset);
    offset = header->end;
  }
}

DwarfUnit* UnitCache::around(std::uint64_t offset) {
  if (starts_.empty()) find_units();
  const auto after = std::upper_bound(starts_.begin(), starts_.end(), offset);
  return after == starts_.begin() ? nullptr : at(*std::prev(after));
}

void UnitCache::trim(std::size_t budget_bytes) {
  oldest_kept_ = uses_;
  for (const std::uint64_t offset : asked_) {
    Cached& cached = units_.find(offset)->second;
    oldest_kept_ = std::min(oldest_kept_, cached.last_use);
    const std::size_t bytes = cached.unit ? cached.unit->memory_bytes() : 0;
    total_bytes_ += bytes - cached.counted_bytes;
    cached.counted_bytes = bytes;
  }
  asked_.clear();
  if (total_bytes_ > budget_bytes) drop_oldest(budget_bytes);
}

void UnitCache::drop_oldest(std::size_t budget_bytes) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> by_use;
  by_use.reserve(units_.size());
  for (const auto& [offset, cached] : units_) by_use.emplace_back(cached.last_use, offset);
  std::sort(by_use.begin(), by_use.end());
  for (const auto& [use, offset] : by_use) {
    if (use >= oldest_kept_ || total_bytes_ <= budget_bytes - budget_bytes / 4) return;
    const auto found = units_.find(offset);
    total_bytes_ -= found->second.counted_bytes;
    units_.erase(found);
  }
}

}  // namespace hawk
