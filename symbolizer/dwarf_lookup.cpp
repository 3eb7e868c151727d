#include "symbolizer/dwarf_lookup.h"

#include <algorithm>
#include <new>
#include <utility>

#include "symbolizer/demangle.h"
#include "symbolizer/own_memory.h"
#include "symbolizer/section_sizes.h"

namespace hawk {
namespace {

/// For units: most of it is what libdw keeps of their line tables.
constexpr std::size_t kUnitBudgetBytes = std::size_t{96} << 20;
/// For split files that are open: their sections.
constexpr std::size_t kSplitBudgetBytes = std::size_t{128} << 20;
/// How much of mapped images may be in memory until it is released.
constexpr std::uint64_t kImageBudgetBytes = std::uint64_t{32} << 20;
/// Questions between two looks at how much that is. How much one brings in cannot be known beforehand: Linux maps pages
/// around the one that was asked for, too.
constexpr std::uint64_t kQuestionsBetweenLooks = 4;

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
  alternate_ = find_alternate_file(source_.file, source_.rooted);
  for (const ElfFile* file : {&source_.file, alternate_ ? &alternate_->file : nullptr}) {
    if (file == nullptr) continue;
    const std::optional<std::uint64_t> bytes = memory_for_sections(*file);
    if (!bytes) {
      gap = "its debug information is not read: it needs more memory than the limit for a file";
      return false;
    }
    section_bytes_ += *bytes;
  }
  if (alternate_) {
    std::optional<DwarfFile> alternate = DwarfFile::open(alternate_->file, nullptr);
    if (alternate) alternate_units_.emplace(std::move(*alternate), nullptr);
  }
  std::optional<DwarfFile> file = DwarfFile::open(source_.file, alternate_units_ ? &alternate_units_->file() : nullptr);
  if (!file) {
    const bool is_there = !source_.file.section(".debug_info").empty() || !source_.file.section(".zdebug_info").empty();
    if (is_there) gap = "its debug information is not read: it is damaged";
    return false;
  }
  split_.emplace(source_.file, source_.rooted);
  units_.emplace(std::move(*file), &*split_);
  unit_ranges_.emplace(*units_);
  names_.emplace(*units_, alternate_units_ ? &*alternate_units_ : nullptr);
  source_.file.release();  // what was decompressed
  mapped_bytes_ = own_memory().file_bytes;
  return true;
}

std::vector<PooledFrame> DwarfLookup::frames(std::uint64_t address, SymbolTable& symbols) {
  std::vector<PooledFrame> frames;
  const std::optional<std::uint32_t> unit = unit_ranges_->unit_of(address);
  if (!unit) return frames;
  describe(units_->at(*unit), address, symbols, frames);
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

void DwarfLookup::describe(DwarfUnit& unit, std::uint64_t address, SymbolTable& symbols,
                           std::vector<PooledFrame>& frames) {
  DwarfUnit::SourceLine source = unit.line_at(address);
  for (DwarfUnit::Scope& scope : unit.chain_at(address)) {
    PooledFrame& frame = frames.emplace_back();
    frame.file = file_of(unit, source.file);
    frame.line = source.line;
    frame.inlined = scope.inlined;
    frame.function = function_of(scope, symbols, address);
    // Where this one was called is where the next one stands.
    if (scope.inlined) source = unit.line_of_call(&scope.entry);
  }
  if (!frames.empty()) return;
  // Assembly: lines, but no entry for the function.
  const FunctionSymbol* symbol = symbols.find(address);
  if (symbol == nullptr && source.file.empty()) return;
  PooledFrame& frame = frames.emplace_back();
  if (symbol != nullptr) frame.function = pool_.add(demangle(symbol->name));
  frame.file = file_of(unit, source.file);
  frame.line = source.line;
}

std::uint32_t DwarfLookup::file_of(DwarfUnit& unit, std::string_view file) {
  if (file.empty() || file.starts_with('/') || unit.directory().empty()) return pool_.add(file);
  std::string path(unit.directory());
  if (!path.ends_with('/')) path += '/';
  return pool_.add(path.append(file));
}

std::uint32_t DwarfLookup::demangled(const char* linkage) {
  const auto [known, is_new] = demangled_.try_emplace(linkage, StringPool::kEmpty);
  if (is_new) known->second = pool_.add(demangle(linkage));
  return known->second;
}

std::uint32_t DwarfLookup::function_of(DwarfUnit::Scope& scope, SymbolTable& symbols, std::uint64_t address) {
  Dwarf_Die origin;
  const bool is_described_once = scope.inlined && FunctionNames::origin_of(&scope.entry, &origin);
  const void* entry = is_described_once ? origin.addr : scope.entry.addr;
  const auto [known, is_new] = (scope.inlined ? inlined_names_ : concrete_names_).try_emplace(entry);
  if (!is_new) return known->second;
  const char* linkage = FunctionNames::linkage_name(&scope.entry);
  known->second = linkage == nullptr ? pool_.add(unlinked_name(scope, symbols, address)) : demangled(linkage);
  return known->second;
}

/// gcc leaves the linkage name out for what is local to its file; C has none.
std::string DwarfLookup::unlinked_name(DwarfUnit::Scope& scope, SymbolTable& symbols, std::uint64_t address) {
  const std::string bare(FunctionNames::source_name(&scope.entry));
  const FunctionSymbol* symbol = scope.inlined ? nullptr : symbols.find(address);
  if (bare.empty()) return symbol == nullptr ? bare : demangle(symbol->name);
  // The symbol, which only a function of its own has, names scope and parameters; DWARF alone the scope.
  const std::string scoped = scoped_name(symbol, bare);
  return scoped.empty() ? names_->scope_prefix(scope.entry) + bare : scoped;
}

std::size_t DwarfLookup::memory_bytes() {
  constexpr std::size_t kNodeBytes = 4 * sizeof(void*);
  const std::size_t names = concrete_names_.size() + inlined_names_.size() + demangled_.size();
  return section_bytes_ + split_->memory_bytes() + units_->memory_bytes() +
         (alternate_units_ ? alternate_units_->memory_bytes() : 0) + names * kNodeBytes;
}

void DwarfLookup::limit_memory() {
  const std::size_t alternate_bytes = alternate_units_ ? alternate_units_->memory_bytes() : 0;
  const std::size_t split_bytes = split_->memory_bytes();
  if (units_->memory_bytes() + alternate_bytes > kUnitBudgetBytes || split_bytes > kSplitBudgetBytes ||
      split_->is_full()) {
    renew();
  }
  if (!source_.file.is_mapped() || ++questions_ % kQuestionsBetweenLooks != 0) return;
  if (own_memory().file_bytes < mapped_bytes_ + kImageBudgetBytes) return;
  source_.file.release();
  split_->release();
  if (alternate_) alternate_->file.release();
  mapped_bytes_ = own_memory().file_bytes;
}

void DwarfLookup::renew() {
  // Names are known by their address in images, of which those of split files go.
  if (!split_->empty()) {
    concrete_names_.clear();
    inlined_names_.clear();
    demangled_.clear();
  }
  // The alternate file first, for the other one refers to it.
  if ((alternate_units_ && !alternate_units_->renew()) || !units_->renew()) throw std::bad_alloc();
}

}  // namespace hawk
