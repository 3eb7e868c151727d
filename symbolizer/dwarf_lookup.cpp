#include "symbolizer/dwarf_lookup.h"

#include <dwarf.h>

#include <utility>

#include "symbolizer/demangle.h"
#include "symbolizer/function_name.h"

namespace hawk {
namespace {

/// The readable name of `symbol` if it is a mangled one for the function called `bare`; else nothing. Suffixes that the
/// compiler gave to a part or a copy (".cold", ".isra.0") are left out: it is the same source function.
std::string scoped_name(const FunctionSymbol* symbol, const std::string& bare) {
  if (symbol == nullptr) return {};
  const std::string readable = demangle(symbol->name);
  if (readable == symbol->name || readable.find(bare.substr(0, bare.find('<'))) == std::string::npos) return {};
  return readable.substr(0, readable.find(" [clone "));
}

std::uint32_t call_line(Dwarf_Die* die) {
  Dwarf_Attribute attribute;
  Dwarf_Word line = 0;
  if (dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attribute), &line) != 0 || line > UINT32_MAX) return 0;
  return static_cast<std::uint32_t>(line);
}

}  // namespace

std::unique_ptr<DwarfLookup> DwarfLookup::make(FoundFile source) {
  std::unique_ptr<DwarfLookup> lookup(new DwarfLookup(std::move(source)));
  lookup->dwarf_.reset(dwarf_begin_elf(lookup->elf(), DWARF_C_READ, nullptr));
  if (!lookup->dwarf_) return nullptr;
  lookup->alternate_ = find_alternate_file(lookup->dwarf_.get(), lookup->source_.place);
  if (lookup->alternate_) {
    lookup->alternate_dwarf_.reset(dwarf_begin_elf(lookup->alternate_->file.elf(), DWARF_C_READ, nullptr));
    if (lookup->alternate_dwarf_) dwarf_setalt(lookup->dwarf_.get(), lookup->alternate_dwarf_.get());
  }
  lookup->read_units();
  if (lookup->units_.empty()) return nullptr;
  return lookup;
}

void DwarfLookup::read_units() {
  Dwarf_Off offset = 0;
  Dwarf_Off next = 0;
  std::size_t header_bytes = 0;
  while (dwarf_next_unit(dwarf_.get(), offset, &next, &header_bytes, nullptr, nullptr, nullptr, nullptr, nullptr,
                         nullptr) == 0 &&
         next > offset) {
    Dwarf_Die die;
    // Partial and type units hold no code: what they describe is reached by reference.
    if (dwarf_offdie(dwarf_.get(), offset + header_bytes, &die) != nullptr &&
        (dwarf_tag(&die) == DW_TAG_compile_unit || dwarf_tag(&die) == DW_TAG_skeleton_unit)) {
      units_.emplace_back(die, next - offset);
    }
    offset = next;
  }
  for (std::uint32_t i = 0; i < units_.size(); ++i) units_[i].add_unit_ranges(i, unit_ranges_);
  unit_ranges_.seal();
}

std::vector<SourceFrame> DwarfLookup::frames(std::uint64_t address, const SymbolTable& symbols) {
  const std::optional<std::uint32_t> index = unit_ranges_.find(address);
  if (!index) return {};
  DwarfUnit& unit = units_[*index];
  SourceFrame frame;
  frame.file = unit.source_line(address, &frame.line);
  std::vector<SourceFrame> frames;
  for (Dwarf_Die& die : unit.chain_at(address)) {
    frame.inlined = dwarf_tag(&die) == DW_TAG_inlined_subroutine;
    frame.function = function_name(&die, symbols, address);
    frames.push_back(std::move(frame));
    // Where this one was called is where the next one stands.
    frame = {};
    if (frames.back().inlined) {
      frame.file = unit.call_file(&die);
      frame.line = call_line(&die);
    }
  }
  if (!frames.empty()) return frames;
  // Assembly: lines, but no entry for the function.
  const FunctionSymbol* symbol = symbols.find(address);
  if (symbol != nullptr) frame.function = demangle(symbol->name);
  if (symbol != nullptr || !frame.file.empty()) frames.push_back(std::move(frame));
  return frames;
}

std::string DwarfLookup::function_name(Dwarf_Die* function, const SymbolTable& symbols, std::uint64_t address) {
  if (const char* linkage = linkage_name(function)) return demangle(linkage);
  // gcc leaves it out for what is local to its file; C has none.
  const std::string bare = source_name(function);
  const bool inlined = dwarf_tag(function) == DW_TAG_inlined_subroutine;
  const FunctionSymbol* symbol = inlined ? nullptr : symbols.find(address);
  if (bare.empty()) return symbol == nullptr ? bare : demangle(symbol->name);
  // The symbol, which only a function of its own has, tells scope and parameters; DWARF alone the scope.
  const std::string scoped = scoped_name(symbol, bare);
  return scoped.empty() ? scopes_.prefix(function) + bare : scoped;
}

}  // namespace hawk
