#include "symbolizer/dwarf_lookup.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "symbolizer/debug_sections.h"
#include "symbolizer/demangle.h"
#include "userspace/base/process_file.h"

namespace hawk {
namespace {

/// For indices of units. One of a megabyte of debug information takes about 100 KiB.
constexpr std::size_t kUnitBudgetBytes = std::size_t{48} << 20;
/// How much of mapped images may be in memory until it is released.
constexpr std::uint64_t kImageBudgetBytes = std::uint64_t{32} << 20;
/// Questions between two looks at how much that is. How much one brings in cannot be told beforehand: Linux maps pages
/// around the one that was asked for, too.
constexpr std::uint64_t kQuestionsBetweenLooks = 4;

/// Bytes of files that are mapped and in our memory; 0 when unknown.
std::uint64_t resident_file_bytes() {
  const Result<std::string> statm = read_whole_file("/proc/self/statm");
  unsigned long pages = 0;
  if (!statm || std::sscanf(statm->c_str(), "%*u %*u %lu", &pages) != 1) return 0;
  return std::uint64_t{pages} * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

/// The readable name of `symbol` if it is a mangled one for the function called `bare`; else nothing. Suffixes that the
/// compiler gave to a part or a copy (".cold", ".isra.0") are left out: it is the same source function.
std::string scoped_name(const FunctionSymbol* symbol, const std::string& bare) {
  if (symbol == nullptr) return {};
  const std::string readable = demangle(symbol->name);
  if (readable == symbol->name || readable.find(bare.substr(0, bare.find('<'))) == std::string::npos) return {};
  return readable.substr(0, readable.find(" [clone "));
}

}  // namespace

std::unique_ptr<DwarfLookup> DwarfLookup::make(FoundFile source, StringPool& pool, std::string& gap) {
  std::unique_ptr<DwarfLookup> lookup(new DwarfLookup(std::move(source), pool));
  return lookup->open(gap) ? std::move(lookup) : nullptr;
}

bool DwarfLookup::open(std::string& gap) {
  alternate_ = find_alternate_file(source_.file, source_.place);
  for (const ElfFile* file : {&source_.file, alternate_ ? &alternate_->file : nullptr}) {
    if (file == nullptr || fits_into_memory(file->elf(), file->size_bytes(), file->is_mapped())) continue;
    gap = "its debug information is not read: it takes more memory than a file may";
    return false;
  }
  DebugSections sections = DebugSections::of(elf());
  if (alternate_) {
    Elf* alternate = alternate_->file.elf();
    alternate_units_.emplace(DebugSections::of(alternate), info_section_of(alternate));
    sections.alternate_str = alternate_units_->sections().str;
  }
  units_.emplace(sections, info_section_of(elf()));
  if (!UnitHeader::at(units_->info(), 0)) return false;
  unit_ranges_.emplace(*units_);
  names_.emplace(alternate_units_ ? &*alternate_units_ : nullptr);
  for (const Bytes part : units_->sections().all()) section_bytes_ += source_.file.is_mapped(part) ? 0 : part.size();
  source_.file.release();  // what was decompressed
  mapped_bytes_ = resident_file_bytes();
  return true;
}

std::vector<PooledFrame> DwarfLookup::frames(std::uint64_t address, SymbolTable& symbols) {
  std::vector<PooledFrame> frames;
  const std::optional<std::uint64_t> offset = unit_ranges_->unit_of(address);
  if (!offset) return frames;
  DwarfUnit* unit = units_->at(*offset);
  if (unit == nullptr) return frames;
  describe(*unit, *offset, address, symbols, frames);
  limit_memory();
  return frames;
}

void DwarfLookup::arrange(std::vector<std::uint64_t>& addresses) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> by_unit;
  by_unit.reserve(addresses.size());
  for (const std::uint64_t address : addresses) {
    by_unit.emplace_back(unit_ranges_->unit_of(address).value_or(UINT64_MAX), address);
  }
  std::sort(by_unit.begin(), by_unit.end());
  std::transform(by_unit.begin(), by_unit.end(), addresses.begin(), [](const auto& pair) { return pair.second; });
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
  const Bytes texts = units_->sections().str;
  const std::uint8_t* start = reinterpret_cast<const std::uint8_t*>(linkage.data());
  // What stands in a unit itself goes away with it.
  if (start < texts.data() || start >= texts.data() + texts.size()) return pool_.add(demangle(linkage));
  const auto [known, is_new] = demangled_.try_emplace(linkage.data(), StringPool::kEmpty);
  if (is_new) known->second = pool_.add(demangle(linkage));
  return known->second;
}

std::uint32_t DwarfLookup::function_of(DwarfUnit& unit, const DwarfUnit::Scope& scope, SymbolTable& symbols,
                                       std::uint64_t address) {
  const std::uint64_t entry = scope.origin != 0 ? scope.origin : scope.entry;
  const auto [known, is_new] = (scope.inlined ? inlined_names_ : concrete_names_).try_emplace(entry);
  if (!is_new) return known->second;
  const EntryPlace function{&*units_, &unit, entry};
  const std::string_view linkage = names_->linkage_name(function);
  known->second =
      linkage.empty() ? pool_.add(unlinked_name(function, scope.inlined, symbols, address)) : demangled(linkage);
  return known->second;
}

/// gcc leaves the linkage name out for what is local to its file; C has none.
std::string DwarfLookup::unlinked_name(const EntryPlace& function, bool inlined, SymbolTable& symbols,
                                       std::uint64_t address) {
  const std::string bare(names_->source_name(function));
  const FunctionSymbol* symbol = inlined ? nullptr : symbols.find(address);
  if (bare.empty()) return symbol == nullptr ? bare : demangle(symbol->name);
  // The symbol, which only a function of its own has, tells scope and parameters; DWARF alone the scope.
  const std::string scoped = scoped_name(symbol, bare);
  return scoped.empty() ? names_->scope_prefix(function) + bare : scoped;
}

std::size_t DwarfLookup::memory_bytes() const {
  constexpr std::size_t kNodeBytes = 4 * sizeof(void*);
  const std::size_t names = concrete_names_.size() + inlined_names_.size() + demangled_.size();
  return section_bytes_ + units_->memory_bytes() + (alternate_units_ ? alternate_units_->memory_bytes() : 0) +
         names * kNodeBytes;
}

void DwarfLookup::limit_memory() {
  units_->trim(kUnitBudgetBytes);
  if (alternate_units_) alternate_units_->trim(kUnitBudgetBytes);
  if (!source_.file.is_mapped() || ++questions_ % kQuestionsBetweenLooks != 0) return;
  if (resident_file_bytes() < mapped_bytes_ + kImageBudgetBytes) return;
  source_.file.release();
  if (alternate_) alternate_->file.release();
  mapped_bytes_ = resident_file_bytes();
}

}  // namespace hawk
