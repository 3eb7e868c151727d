#include "symbolizer/dwarf_lookup.h"

#include <dwarf.h>

#include <utility>

#include "symbolizer/demangle.h"
#include "symbolizer/function_name.h"

namespace hawk {
namespace {

/// For indices of units. One of a megabyte of debug information takes about 100 KiB.
constexpr std::size_t kUnitBudgetBytes = std::size_t{48} << 20;
/// How much of a mapped image may be looked at until its memory is released.
constexpr std::uint64_t kImageBudgetBytes = std::uint64_t{64} << 20;
/// What a question touches besides the unit itself, for the kernel maps pages by 16: names, ranges and calls.
constexpr std::uint64_t kTouchedByQuestionBytes = std::uint64_t{128} << 10;

/// The readable name of `symbol` if it is a mangled one for the function called `bare`; else nothing. Suffixes that the
/// compiler gave to a part or a copy (".cold", ".isra.0") are left out: it is the same source function.
std::string scoped_name(const FunctionSymbol* symbol, const std::string& bare) {
  if (symbol == nullptr) return {};
  const std::string readable = demangle(symbol->name);
  if (readable == symbol->name || readable.find(bare.substr(0, bare.find('<'))) == std::string::npos) return {};
  return readable.substr(0, readable.find(" [clone "));
}

}  // namespace

std::unique_ptr<DwarfLookup> DwarfLookup::make(FoundFile source, StringPool& pool) {
  std::unique_ptr<DwarfLookup> lookup(new DwarfLookup(std::move(source), pool));
  return lookup->open() ? std::move(lookup) : nullptr;
}

bool DwarfLookup::open() {
  dwarf_.reset(dwarf_begin_elf(elf(), DWARF_C_READ, nullptr));
  if (!dwarf_) return false;
  units_.emplace(DebugSections::of(elf()));
  if (!UnitHeader::at(units_->sections().info, 0)) return false;
  alternate_ = find_alternate_file(dwarf_.get(), source_.place);
  if (alternate_) {
    alternate_dwarf_.reset(dwarf_begin_elf(alternate_->file.elf(), DWARF_C_READ, nullptr));
    if (alternate_dwarf_) {
      dwarf_setalt(dwarf_.get(), alternate_dwarf_.get());
      alternate_units_.emplace(DebugSections::of(alternate_->file.elf()));
    }
  }
  unit_ranges_.emplace(units_->sections());
  scopes_.emplace(dwarf_.get(), *units_, alternate_dwarf_.get(), alternate_units_ ? &*alternate_units_ : nullptr);
  return true;
}

std::vector<PooledFrame> DwarfLookup::frames(std::uint64_t address, SymbolTable& symbols) {
  std::vector<PooledFrame> frames;
  const std::optional<std::uint64_t> offset = unit_ranges_->unit_of(address);
  if (!offset) return frames;
  DwarfUnit* unit = units_->at(*offset);
  if (unit == nullptr) return frames;
  const std::size_t before = unit->memory_bytes();
  describe(*unit, *offset, address, symbols, frames);
  const bool was_indexed = unit->memory_bytes() > before + before / 2;
  const UnitHeader& header = unit->reader().header();
  release_memory(kTouchedByQuestionBytes + (was_indexed ? header.end - header.offset : 0));
  return frames;
}

void DwarfLookup::describe(DwarfUnit& unit, std::uint64_t unit_offset, std::uint64_t address, SymbolTable& symbols,
                           std::vector<PooledFrame>& frames) {
  PooledFrame frame;
  const LineTable::Place place = unit.place_at(address);
  if (place.is_known) frame.file = file_of(unit, unit_offset, place.file);
  frame.line = place.line;
  for (const DwarfUnit::Scope& scope : unit.chain_at(address)) {
    frame.inlined = scope.inlined;
    frame.function = function_of(unit, scope, symbols, address);
    frames.push_back(frame);
    // Where this one was called is where the next one stands.
    frame = {};
    if (scope.has_call_file) frame.file = file_of(unit, unit_offset, scope.call_file);
    frame.line = scope.call_line;
  }
  if (!frames.empty()) return;
  // Assembly: lines, but no entry for the function.
  const FunctionSymbol* symbol = symbols.find(address);
  if (symbol != nullptr) frame.function = pool_.add(demangle(symbol->name));
  if (symbol != nullptr || frame.file != StringPool::kEmpty) frames.push_back(frame);
}

std::uint32_t DwarfLookup::file_of(DwarfUnit& unit, std::uint64_t unit_offset, std::uint64_t file) {
  if (files_unit_ != unit_offset) files_.clear();
  files_unit_ = unit_offset;
  const auto [known, is_new] = files_.try_emplace(file, StringPool::kEmpty);
  if (is_new) known->second = pool_.add(unit.file_path(file));
  return known->second;
}

std::uint32_t DwarfLookup::demangled(std::string_view linkage) {
  const auto [known, is_new] = demangled_.try_emplace(linkage.data(), StringPool::kEmpty);
  if (is_new) known->second = pool_.add(demangle(linkage));
  return known->second;
}

std::uint32_t DwarfLookup::function_of(DwarfUnit& unit, const DwarfUnit::Scope& scope, SymbolTable& symbols,
                                       std::uint64_t address) {
  const std::uint64_t entry = scope.origin != 0 ? scope.origin : scope.entry;
  const auto [known, is_new] = (scope.inlined ? inlined_names_ : concrete_names_).try_emplace(entry);
  if (!is_new) return known->second;
  const std::string_view linkage = unit.linkage_name(entry);
  Dwarf_Die die;
  if (!linkage.empty()) {
    known->second = demangled(linkage);
  } else if (dwarf_offdie(dwarf_.get(), scope.entry, &die) != nullptr) {
    known->second = pool_.add(function_name(&die, symbols, address));
  }
  return known->second;
}

std::string DwarfLookup::function_name(Dwarf_Die* function, SymbolTable& symbols, std::uint64_t address) {
  if (const char* linkage = linkage_name(function)) return demangle(linkage);
  // gcc leaves it out for what is local to its file; C has none.
  const std::string bare = source_name(function);
  const bool inlined = dwarf_tag(function) == DW_TAG_inlined_subroutine;
  const FunctionSymbol* symbol = inlined ? nullptr : symbols.find(address);
  if (bare.empty()) return symbol == nullptr ? bare : demangle(symbol->name);
  // The symbol, which only a function of its own has, tells scope and parameters; DWARF alone the scope.
  const std::string scoped = scoped_name(symbol, bare);
  return scoped.empty() ? scopes_->prefix(function) + bare : scoped;
}

void DwarfLookup::release_memory(std::uint64_t touched_bytes) {
  units_->trim(kUnitBudgetBytes);
  if (alternate_units_) alternate_units_->trim(kUnitBudgetBytes);
  touched_bytes_ += touched_bytes;
  if (touched_bytes_ < kImageBudgetBytes) return;
  touched_bytes_ = 0;
  const DebugSections& sections = units_->sections();
  for (const Bytes part : {sections.info, sections.str, sections.line, sections.rnglists, sections.ranges,
                           sections.abbrev, sections.addr, sections.str_offsets}) {
    source_.file.release(part);
  }
}

}  // namespace hawk
