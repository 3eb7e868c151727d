#include "symbolizer/function_name.h"

#include <dwarf.h>

namespace hawk {

const char* linkage_name(Dwarf_Die* die) {
  for (const unsigned attribute_name : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
    Dwarf_Attribute attribute;
    const char* name = dwarf_formstring(dwarf_attr_integrate(die, attribute_name, &attribute));
    if (name != nullptr) return name;
  }
  return nullptr;
}

std::string source_name(Dwarf_Die* die) {
  Dwarf_Attribute attribute;
  const char* name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_name, &attribute));
  return name == nullptr ? std::string{} : std::string(name);
}

}  // namespace hawk
