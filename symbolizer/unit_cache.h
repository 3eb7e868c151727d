#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "symbolizer/debug_sections.h"
#include "symbolizer/dwarf_unit.h"

namespace hawk {

/// The units of one file that were asked for, with their indices, as long as they fit into a budget.
class UnitCache {
 public:
  UnitCache(const DebugSections& sections, InfoSection info) : sections_(sections), info_(std::move(info)) {}
  UnitCache(const UnitCache&) = delete;
  UnitCache& operator=(const UnitCache&) = delete;

  const DebugSections& sections() const { return sections_; }
  InfoSection& info() { return info_; }
  /// The unit whose header is at `offset` of .debug_info; nullptr when there is no sound one. Stays until trim().
  DwarfUnit* at(std::uint64_t offset);
  /// The unit that the entry at `offset` belongs to; nullptr when there is none. The first call reads the headers of
  /// all units.
  DwarfUnit* around(std::uint64_t offset);
  /// Drops the units that were not asked for longest until the rest takes at most `budget_bytes`, but none that
  /// was asked for since the last call.
  void trim(std::size_t budget_bytes);
  /// What the units took at the last trim().
  std::size_t memory_bytes() const { return total_bytes_; }

 private:
  struct Cached {
    std::unique_ptr<DwarfUnit> unit;
    std::uint64_t last_use = 0;
    std::size_t counted_bytes = 0;  ///< what it adds to total_bytes_
  };
  void drop_oldest(std::size_t budget_bytes);
  void find_units();

  DebugSections sections_;
  InfoSection info_;
  std::vector<std::uint64_t> starts_;  ///< of all units, ascending; empty before around()
  std::unordered_map<std::uint64_t, Cached> units_;
  std::uint64_t uses_ = 0;
  std::uint64_t oldest_kept_ = 0;     ///< use of the first unit that trim() must not drop
  std::vector<std::uint64_t> asked_;  ///< since the last trim(): only these have grown
  std::size_t total_bytes_ = 0;
};

}  // namespace hawk
