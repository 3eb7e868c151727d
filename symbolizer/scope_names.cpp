#include "symbolizer/scope_names.h"

#include <dwarf.h>

#include "symbolizer/demangle.h"
#include "symbolizer/function_name.h"

namespace hawk {
namespace {

constexpr int kLongestChain = 16;
/// Local classes inside methods of local classes: nobody goes deeper, except damaged files in circles.
constexpr int kDeepestLocality = 8;

/// The scope's own name; "" for a class without one.
std::string scope_name(Dwarf_Die* die) {
  const std::string name = source_name(die);
  if (!name.empty()) return name + "::";
  return dwarf_tag(die) == DW_TAG_namespace ? "(anonymous namespace)::" : "";
}

/// Follows a concrete function or inlined call to the entry that stands where the source declares it.
Dwarf_Die declaration_of(const Dwarf_Die& function) {
  Dwarf_Die die = function;
  for (int i = 0; i < kLongestChain; ++i) {
    Dwarf_Attribute attribute;
    Dwarf_Die next;
    if (dwarf_formref_die(dwarf_attr(&die, DW_AT_abstract_origin, &attribute), &next) == nullptr &&
        dwarf_formref_die(dwarf_attr(&die, DW_AT_specification, &attribute), &next) == nullptr) {
      break;
    }
    die = next;
  }
  return die;
}

}  // namespace

DwarfUnit* ScopeNames::unit_of(Dwarf_Die* entry) {
  std::uint8_t unit_type = 0;
  Dwarf_Half version = 0;
  if (dwarf_cu_info(entry->cu, &version, &unit_type, nullptr, nullptr, nullptr, nullptr, nullptr) != 0) return nullptr;
  if (version < 5 && unit_type == DW_UT_type) return nullptr;  // its offsets are into .debug_types
  const std::uint64_t unit = dwarf_dieoffset(entry) - dwarf_cuoffset(entry);
  Dwarf* dwarf = dwarf_cu_getdwarf(entry->cu);
  if (dwarf == dwarf_) return units_->at(unit);
  return dwarf == alternate_ && alternate_units_ != nullptr ? alternate_units_->at(unit) : nullptr;
}

std::string ScopeNames::prefix_at(Dwarf_Die* function, int depth) {
  Dwarf_Die declaration = declaration_of(*function);
  DwarfUnit* unit = unit_of(&declaration);
  if (unit == nullptr) return {};
  std::string prefix;
  for (const std::uint64_t offset : unit->scopes_around(dwarf_dieoffset(&declaration))) {
    Dwarf_Die scope;
    if (dwarf_offdie(dwarf_cu_getdwarf(declaration.cu), offset, &scope) == nullptr) break;
    if (dwarf_tag(&scope) != DW_TAG_subprogram) {
      prefix.insert(0, scope_name(&scope));
      continue;
    }
    // Inside a function: it knows its own scopes, and need not stand in them.
    const char* linkage = linkage_name(&scope);
    if (linkage != nullptr) return demangle(linkage) + "::" + prefix;
    std::string around = depth < kDeepestLocality ? prefix_at(&scope, depth + 1) : std::string{};
    return around.append(scope_name(&scope)).append(prefix);
  }
  return prefix;
}

}  // namespace hawk
