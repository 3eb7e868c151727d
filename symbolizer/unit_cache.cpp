#include "symbolizer/unit_cache.h"

#include <optional>

namespace hawk {

DwarfUnit& UnitCache::at(std::uint32_t number) {
  if (number != asked_) memory_bytes();
  asked_ = number;
  Cached& cached = units_[number];
  if (!cached.unit) cached.unit = std::make_unique<DwarfUnit>(file_, number, split_);
  return *cached.unit;
}

DwarfUnit* UnitCache::around(const Dwarf_Die& entry) {
  const auto asked = units_.find(asked_);
  if (asked != units_.end() && asked->second.unit->holds(entry)) return asked->second.unit.get();
  Dwarf_Die copy = entry;
  if (dwarf_cu_getdwarf(entry.cu) != file_.dwarf()) return nullptr;
  const std::optional<std::uint32_t> number = file_.unit_around(dwarf_dieoffset(&copy));
  if (!number) return nullptr;
  DwarfUnit& unit = at(*number);
  return unit.holds(entry) ? &unit : nullptr;  // one of .debug_types does not
}

std::size_t UnitCache::memory_bytes() {
  const auto asked = units_.find(asked_);
  if (asked == units_.end() || !asked->second.unit) return total_bytes_;
  Cached& cached = asked->second;
  const std::size_t bytes = cached.unit->memory_bytes();
  total_bytes_ += bytes - cached.counted_bytes;
  cached.counted_bytes = bytes;
  return total_bytes_;
}

bool UnitCache::renew() {
  units_.clear();
  if (split_ != nullptr) split_->drop();
  asked_ = kNone;
  total_bytes_ = 0;
  return file_.renew();
}

}  // namespace hawk
