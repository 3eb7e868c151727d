#include "symbolizer/scope_names.h"

#include <dwarf.h>

#include "symbolizer/demangle.h"
#include "symbolizer/function_name.h"

namespace hawk {
namespace {

constexpr int kDeepestNesting = 256;
constexpr int kLongestChain = 16;
/// Local classes inside methods of local classes: nobody goes deeper, except damaged files in circles.
constexpr int kDeepestLocality = 8;

bool is_scope(int tag) {
  switch (tag) {
    case DW_TAG_subprogram:
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
    case DW_TAG_enumeration_type:
      return true;
    default:
      return false;
  }
}

/// A scope of the source that has no name: a block, or what dwz made of a unit.
bool is_transparent(int tag) { return tag == DW_TAG_lexical_block || tag == DW_TAG_imported_unit; }

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

std::string ScopeNames::prefix_at(Dwarf_Die* function, int depth) {
  Dwarf_Die declaration = declaration_of(*function);
  if (indexed_units_.insert(declaration.cu).second) index_unit(&declaration);
  const auto found = scope_of_.find(declaration.addr);
  if (found == scope_of_.end()) return {};
  std::string prefix;
  for (std::uint32_t i = found->second; i != 0; i = scopes_[i].parent) {
    Dwarf_Die* scope = &scopes_[i].die;
    if (dwarf_tag(scope) != DW_TAG_subprogram) {
      prefix.insert(0, scope_name(scope));
      continue;
    }
    // Inside a function: it knows its own scopes, and need not stand in them.
    const char* linkage = linkage_name(scope);
    if (linkage != nullptr) return demangle(linkage) + "::" + prefix;
    Dwarf_Die local = *scope;  // a copy: the call may make scopes_ grow
    std::string around = depth < kDeepestLocality ? prefix_at(&local, depth + 1) : std::string{};
    return around.append(scope_name(&local)).append(prefix);
  }
  return prefix;
}

void ScopeNames::index_unit(Dwarf_Die* function) {
  Dwarf_Die unit;
  if (dwarf_diecu(function, &unit, nullptr, nullptr) != nullptr) collect(&unit, 0, 0);
}

void ScopeNames::collect(Dwarf_Die* parent, std::uint32_t scope, int depth) {
  Dwarf_Die child;
  if (depth > kDeepestNesting || dwarf_child(parent, &child) != 0) return;
  do {
    if (budget_ == 0) return;
    --budget_;
    const int tag = dwarf_tag(&child);
    if (is_transparent(tag)) collect(&child, scope, depth + 1);
    if (!is_scope(tag)) continue;
    const bool has_linkage_name = dwarf_hasattr(&child, DW_AT_linkage_name) != 0;
    if (tag == DW_TAG_subprogram && scope != 0 && !has_linkage_name) scope_of_.emplace(child.addr, scope);
    if (dwarf_haschildren(&child) <= 0) continue;
    // Most functions hold no others: their scope is dropped unless an entry inside has referred to it.
    const std::size_t referring = scope_of_.size();
    const std::uint32_t inner = static_cast<std::uint32_t>(scopes_.size());
    scopes_.push_back({child, scope});
    collect(&child, inner, depth + 1);
    if (scope_of_.size() == referring) scopes_.resize(inner);
  } while (dwarf_siblingof(&child, &child) == 0);
}

}  // namespace hawk
