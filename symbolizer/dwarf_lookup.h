#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "symbolizer/debug_file_search.h"
#include "symbolizer/function_names.h"
#include "symbolizer/string_pool.h"
#include "symbolizer/symbol_table.h"
#include "symbolizer/unit_cache.h"
#include "symbolizer/unit_ranges.h"

namespace hawk {

/// The DWARF of one file: addresses to functions, inlined calls and lines.
///
/// libdw reads it. What it keeps of the units that were asked for, and our indices of them, is dropped when it passes a
/// budget, and read again when it is asked for again.
class DwarfLookup {
 public:
  /// nullptr when `source` holds no readable DWARF; `gap` says why if it is there, but is too much. A file that dwz
  /// moved shared parts of to an alternate file gets that one, looked for below the same root. `pool`, which must
  /// outlive this, takes the texts of answers.
  static std::unique_ptr<DwarfLookup> make(FoundFile source, StringPool& pool, std::string& gap);

  /// The frames at `address`, innermost first; names that DWARF does not know come from `symbols`. Empty when no unit
  /// contains the address.
  std::vector<PooledFrame> frames(std::uint64_t address, SymbolTable& symbols);
  /// Puts addresses into the order in which frames() answers them fastest: by unit, for each is read when one of its
  /// addresses is asked, and forgotten some time later.
  void arrange(std::vector<std::uint64_t>& addresses);
  /// Why less is known by now than the debug information refers to; empty when there is no such reason.
  const std::string& gap() const { return split_->gap(); }
  /// About what it takes, apart from pages of mapped files.
  std::size_t memory_bytes();

 private:
  DwarfLookup(FoundFile source, StringPool& pool) : source_(std::move(source)), pool_(pool) {}
  bool open(std::string& gap);
  void describe(DwarfUnit& unit, std::uint64_t address, SymbolTable& symbols, std::vector<PooledFrame>& frames);
  std::uint32_t function_of(DwarfUnit::Scope& scope, SymbolTable& symbols, std::uint64_t address);
  std::string unlinked_name(DwarfUnit::Scope& scope, SymbolTable& symbols, std::uint64_t address);
  std::uint32_t demangled(const char* linkage);
  std::uint32_t file_of(DwarfUnit& unit, std::string_view file);
  void limit_memory();
  void renew();

  // The order matters: what reads an image goes before it, and what refers to the alternate file before that.
  FoundFile source_;
  std::optional<FoundFile> alternate_;
  StringPool& pool_;
  std::optional<UnitCache> alternate_units_;
  std::optional<SplitFiles> split_;
  std::optional<UnitCache> units_;
  std::optional<UnitRanges> unit_ranges_;
  std::optional<FunctionNames> names_;

  std::size_t section_bytes_ = 0;  ///< of sections that are not mapped: read or decompressed
  std::uint64_t questions_ = 0;
  std::uint64_t mapped_bytes_ = 0;  ///< of all files, in memory when the image was released last
  // By address in the image. Linkers merge equal names.
  std::unordered_map<const void*, std::uint32_t> concrete_names_;  ///< by entry
  std::unordered_map<const void*, std::uint32_t> inlined_names_;   ///< by the entry that describes the function
  std::unordered_map<const char*, std::uint32_t> demangled_;
};

}  // namespace hawk
