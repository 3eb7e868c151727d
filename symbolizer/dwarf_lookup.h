#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "symbolizer/debug_file_search.h"
#include "symbolizer/debug_sections.h"
#include "symbolizer/scope_names.h"
#include "symbolizer/string_pool.h"
#include "symbolizer/symbol_table.h"
#include "symbolizer/unit_cache.h"
#include "symbolizer/unit_ranges.h"

namespace hawk {

/// The DWARF of one file: addresses to functions, inlined calls and lines.
///
/// What is asked by the thousand (ranges, inlined calls, line tables) is read by readers of our own, which keep little
/// and forget what was not asked for long. libdw opens and decompresses, and tells the rare names that need references
/// between units or to an alternate file.
class DwarfLookup {
 public:
  /// nullptr when `source` holds no readable DWARF. A file that dwz moved shared parts of to an alternate file gets
  /// that one, looked for below the same root. `pool`, which must outlive this, takes the texts of answers.
  static std::unique_ptr<DwarfLookup> make(FoundFile source, StringPool& pool);

  /// The frames at `address`, innermost first; names that DWARF does not know come from `symbols`. Empty when no unit
  /// contains the address. Fastest when addresses come in order: neighbours share a unit.
  std::vector<PooledFrame> frames(std::uint64_t address, SymbolTable& symbols);
  /// The image it reads, whose symbols may serve as well.
  Elf* elf() const { return source_.file.elf(); }

 private:
  DwarfLookup(FoundFile source, StringPool& pool) : source_(std::move(source)), pool_(pool) {}
  bool open();
  void describe(DwarfUnit& unit, std::uint64_t unit_offset, std::uint64_t address, SymbolTable& symbols,
                std::vector<PooledFrame>& frames);
  std::uint32_t function_of(DwarfUnit& unit, const DwarfUnit::Scope& scope, SymbolTable& symbols,
                            std::uint64_t address);
  std::string function_name(Dwarf_Die* function, SymbolTable& symbols, std::uint64_t address);
  std::uint32_t demangled(std::string_view linkage);
  std::uint32_t file_of(DwarfUnit& unit, std::uint64_t unit_offset, std::uint64_t file);
  void release_memory(std::uint64_t touched_bytes);

  // The order matters: a Dwarf goes before the image it reads, and before the alternate one it refers to.
  FoundFile source_;
  std::optional<FoundFile> alternate_;
  DwarfPtr alternate_dwarf_;
  DwarfPtr dwarf_;
  StringPool& pool_;
  std::optional<UnitCache> alternate_units_;
  std::optional<UnitCache> units_;
  std::optional<UnitRanges> unit_ranges_;
  std::optional<ScopeNames> scopes_;

  std::uint64_t touched_bytes_ = 0;  ///< of the image since its memory was released, about
  std::unordered_map<std::uint64_t, std::uint32_t> concrete_names_;  ///< by entry
  std::unordered_map<std::uint64_t, std::uint32_t> inlined_names_;   ///< by what describes the function
  std::unordered_map<const char*, std::uint32_t> demangled_;  ///< by place in the image: linkers merge equal names
  std::unordered_map<std::uint64_t, std::uint32_t> files_;    ///< of the unit asked last, by number
  std::uint64_t files_unit_ = UINT64_MAX;
};

}  // namespace hawk
