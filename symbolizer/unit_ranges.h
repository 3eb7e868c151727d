#pragma once

#include <cstdint>
#include <optional>
#include <unordered_set>
#include <vector>

#include "symbolizer/interval_index.h"
#include "symbolizer/unit_cache.h"

namespace hawk {

/// Which unit of .debug_info an address belongs to.
///
/// .debug_aranges tells it without a look at any unit. But it is optional, several compilers leave it out, and one file
/// may be linked from objects with it and without: at the first address that it does not know, the own entries of all
/// units that it says nothing about are read.
class UnitRanges {
 public:
  /// `units` must outlive this.
  explicit UnitRanges(UnitCache& units);

  /// The offset of the unit's header.
  std::optional<std::uint64_t> unit_of(std::uint64_t address);

 private:
  /// A unit's number is its index in units_.
  std::uint32_t number_of(std::uint64_t unit);
  void read_aranges();
  void read_other_units();

  UnitCache* cache_;
  std::vector<std::uint64_t> units_;
  std::unordered_set<std::uint64_t> listed_;  ///< by .debug_aranges
  IntervalIndex listed_ranges_;
  bool read_others_ = false;
  IntervalIndex other_ranges_;
};

}  // namespace hawk
