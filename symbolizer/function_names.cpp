#include "symbolizer/function_names.h"

#include <dwarf.h>

#include "symbolizer/demangle.h"

namespace hawk {
namespace {

constexpr int kLongestChain = 16;
/// Local classes inside methods of local classes: only damaged files go deeper, in circles.
constexpr int kDeepestLocality = 8;

std::string scope_name(Dwarf_Die* scope) {
  const std::string_view name = FunctionNames::source_name(scope);
  if (!name.empty()) return std::string(name) + "::";
  return dwarf_tag(scope) == DW_TAG_namespace ? "(anonymous namespace)::" : "";
}

}  // namespace

const char* FunctionNames::linkage_name(Dwarf_Die* function) {
  for (const unsigned name : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
    Dwarf_Attribute attribute;
    const char* text = dwarf_formstring(dwarf_attr_integrate(function, name, &attribute));
    if (text != nullptr) return text;
  }
  return nullptr;
}

std::string_view FunctionNames::source_name(Dwarf_Die* entry) {
  const char* name = dwarf_diename(entry);
  return name == nullptr ? std::string_view{} : name;
}

bool FunctionNames::origin_of(Dwarf_Die* entry, Dwarf_Die* origin) {
  Dwarf_Attribute attribute;
  return dwarf_formref_die(dwarf_attr(entry, DW_AT_abstract_origin, &attribute), origin) != nullptr ||
         dwarf_formref_die(dwarf_attr(entry, DW_AT_specification, &attribute), origin) != nullptr;
}

DwarfUnit* FunctionNames::unit_of(const Dwarf_Die& entry) {
  DwarfUnit* unit = units_->around(entry);
  return unit != nullptr || alternate_ == nullptr ? unit : alternate_->around(entry);
}

std::string FunctionNames::prefix_at(Dwarf_Die function, int depth) {
  // A concrete function or inlined call leads to the entry that stands where the source declares it.
  Dwarf_Die origin;
  for (int i = 0; i < kLongestChain && origin_of(&function, &origin); ++i) function = origin;
  std::string prefix;
  DwarfUnit* unit = unit_of(function);
  if (unit == nullptr) return prefix;
  for (Dwarf_Die& scope : unit->scopes_around(function)) {
    if (dwarf_tag(&scope) != DW_TAG_subprogram) {
      prefix.insert(0, scope_name(&scope));
      continue;
    }
    // Inside a function: it knows its own scopes, and need not stand in them.
    const char* linkage = linkage_name(&scope);
    if (linkage != nullptr) return demangle(linkage) + "::" + prefix;
    std::string around = depth < kDeepestLocality ? prefix_at(scope, depth + 1) : std::string{};
    return around.append(scope_name(&scope)).append(prefix);
  }
  return prefix;
}

}  // namespace hawk
