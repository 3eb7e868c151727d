#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "symbolizer/debug_sections.h"
#include "symbolizer/dwarf_unit.h"

namespace hawk {

/// The units of one file that were asked for, with their indices, as long as they fit into a budget.
class UnitCache {
 public:
  explicit UnitCache(const DebugSections& sections) : sections_(sections) {}
  UnitCache(const UnitCache&) = delete;
  UnitCache& operator=(const UnitCache&) = delete;

  const DebugSections& sections() const { return sections_; }
  /// The unit whose header is at `offset` of .debug_info; nullptr when there is no sound one. Stays until trim().
  DwarfUnit* at(std::uint64_t offset);
  /// Drops the units that were not asked for longest until the rest takes at most `budget_bytes`, but never the last
  /// one asked for.
  void trim(std::size_t budget_bytes);

 private:
  struct Cached {
    std::unique_ptr<DwarfUnit> unit;
    std::uint64_t last_use = 0;
    std::size_t counted_bytes = 0;  ///< what it adds to total_bytes_
  };
  void drop_oldest(std::size_t budget_bytes);

  DebugSections sections_;
  std::unordered_map<std::uint64_t, Cached> units_;
  std::uint64_t uses_ = 0;
  std::uint64_t last_offset_ = 0;
  std::size_t total_bytes_ = 0;
};

}  // namespace hawk
