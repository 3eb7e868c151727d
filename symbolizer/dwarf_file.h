#pragma once

#include <elfutils/libdw.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "symbolizer/elf_file.h"
#include "userspace/base/byte_cursor.h"
#include "userspace/base/owned.h"

namespace hawk {

using DwarfPtr = std::unique_ptr<Dwarf, Freer<dwarf_end>>;

/// Where a unit of .debug_info lies.
struct UnitSpan {
  Dwarf_Off begin = 0;
  Dwarf_Off first_entry = 0;  ///< the unit's own entry
  Dwarf_Off end = 0;
};

/// The DWARF of one file as libdw reads it, with a list of its units.
///
/// libdw would open files by itself, by names that the file gives: the alternate file when none was set, a unit's split
/// half when something asks for it. Both never happen here: every file gets an alternate one, if only an empty one, and
/// no function is called that looks for a split half.
///
/// libdw keeps whatever it has read as long as the file is open, and what it keeps cannot be dropped but as a whole:
/// renew(). It ends the program when there is no memory left, unless set otherwise: here it throws std::bad_alloc.
class DwarfFile {
 public:
  /// That of `file`, which must outlive it and so must `alternate`, the file that dwz moved shared parts to; may be
  /// null. nullopt when it holds no DWARF with a unit in it.
  static std::optional<DwarfFile> open(const ElfFile& file, const DwarfFile* alternate);

  Dwarf* dwarf() const { return dwarf_.get(); }
  const std::vector<UnitSpan>& units() const { return units_; }
  /// The unit around `offset` of .debug_info.
  std::optional<std::uint32_t> unit_around(Dwarf_Off offset) const;
  /// .debug_line, decompressed; empty when there is none.
  Bytes line_section() const { return line_; }
  /// Drops what libdw keeps: no entry or line that it gave out may be used any more. Addresses of entries and names
  /// stay good, for they lie in the image. False: it cannot be read again.
  bool renew();

 private:
  DwarfFile(const ElfFile& file, const DwarfFile* alternate) : file_(&file), alternate_(alternate) {}
  bool begin();
  void list_units();

  const ElfFile* file_;
  const DwarfFile* alternate_;
  DwarfPtr dwarf_;
  std::vector<UnitSpan> units_;
  Bytes line_;
};

}  // namespace hawk
