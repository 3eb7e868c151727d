#pragma once

#include <elfutils/libdw.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>

#include "symbolizer/dwarf_file.h"
#include "symbolizer/dwarf_unit.h"

namespace hawk {

/// The units of one file that were asked for, with their indices, until they are dropped together.
class UnitCache {
 public:
  /// `split`, which may be null: where units of `file` have their split halves. Must outlive this.
  UnitCache(DwarfFile file, SplitFiles* split) : file_(std::move(file)), split_(split) {}
  UnitCache(const UnitCache&) = delete;
  UnitCache& operator=(const UnitCache&) = delete;

  const DwarfFile& file() const { return file_; }
  /// Unit number `number` of the file.
  DwarfUnit& at(std::uint32_t number);
  /// As at(), a unit that is not kept.
  DwarfUnit read(std::uint32_t number) const { return DwarfUnit(file_, number, split_); }
  /// The unit that `entry` belongs to; nullptr when that is no unit of this file's .debug_info.
  DwarfUnit* around(const Dwarf_Die& entry);
  /// About what the units take, with what libdw keeps for them.
  std::size_t memory_bytes();
  /// Drops all units, and what libdw has kept of the file. False: it cannot be read again.
  bool renew();

 private:
  struct Cached {
    std::unique_ptr<DwarfUnit> unit;
    std::size_t counted_bytes = 0;  ///< what it adds to total_bytes_
  };
  static constexpr std::uint32_t kNone = UINT32_MAX;

  DwarfFile file_;
  SplitFiles* split_;
  std::unordered_map<std::uint32_t, Cached> units_;
  std::uint32_t asked_ = kNone;  ///< the unit that was asked for last: only it has grown
  std::size_t total_bytes_ = 0;
};

}  // namespace hawk
