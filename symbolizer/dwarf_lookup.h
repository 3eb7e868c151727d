#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "symbolizer/debug_file_search.h"
#include "symbolizer/dwarf_unit.h"
#include "symbolizer/scope_names.h"
#include "symbolizer/symbol_table.h"
#include "symbolizer/symbolizer.h"

namespace hawk {

/// The DWARF of one file: addresses to functions, inlined calls and lines.
///
/// Which unit an address belongs to comes from the units' own ranges: .debug_aranges is optional, and several compilers
/// leave it out.
class DwarfLookup {
 public:
  /// nullptr when `source` holds no readable DWARF. A file that dwz moved shared parts of to an alternate file gets
  /// that one, looked for below the same root.
  static std::unique_ptr<DwarfLookup> make(FoundFile source);

  /// The frames at `address`, innermost first; names that DWARF does not know come from `symbols`. Empty when no unit
  /// contains the address.
  std::vector<SourceFrame> frames(std::uint64_t address, const SymbolTable& symbols);
  /// The image it reads, whose symbols may serve as well.
  Elf* elf() const { return source_.file.elf(); }

 private:
  explicit DwarfLookup(FoundFile source) : source_(std::move(source)) {}
  void read_units();
  std::string function_name(Dwarf_Die* function, const SymbolTable& symbols, std::uint64_t address);

  // The order matters: a Dwarf goes before the image it reads, and before the alternate one it refers to.
  FoundFile source_;
  std::optional<FoundFile> alternate_;
  DwarfPtr alternate_dwarf_;
  DwarfPtr dwarf_;
  std::vector<DwarfUnit> units_;
  IntervalIndex unit_ranges_;
  ScopeNames scopes_;
};

}  // namespace hawk
