#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "symbolizer/interval_index.h"
#include "symbolizer/unit_cache.h"

namespace hawk {

/// Which unit of .debug_info an address belongs to.
///
/// .debug_aranges has it without a look at any unit. But it is optional, several compilers leave it out, and one file
/// may be linked from objects with it and without: at the first address that it does not know, the own entries of all
/// units that it says nothing about are read.
class UnitRanges {
 public:
  /// `units` must outlive this.
  explicit UnitRanges(UnitCache& units);

  /// The number of the unit.
  std::optional<std::uint32_t> unit_of(std::uint64_t address);

 private:
  void read_aranges();
  void read_other_units();

  UnitCache* units_;
  std::vector<bool> listed_;  ///< by .debug_aranges, for each unit
  IntervalIndex listed_ranges_;
  bool read_others_ = false;
  IntervalIndex other_ranges_;
};

}  // namespace hawk
