#pragma once

#include <elfutils/libdw.h>

#include <string>

namespace hawk {

/// The linker's name of a function, from its entry or those it refers to; nullptr when it has none.
const char* linkage_name(Dwarf_Die* die);

/// DW_AT_name of an entry or of those it refers to: without scope and parameters. "" when it has none.
std::string source_name(Dwarf_Die* die);

}  // namespace hawk
