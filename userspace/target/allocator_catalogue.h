#pragma once

#include <optional>
#include <string_view>

#include "bpf/kinds.h"
#include "userspace/target/name_set.h"

namespace hawk {

/// One function that hands out or takes back memory.
struct CatalogueEntry {
  std::string_view name;  ///< as in the symbol table
  hawk_call_kind kind = HAWK_CALL_NONE;
  bool is_operator = false;  ///< a C++ operator new or delete
  bool may_throw = false;
};

/// Every name in the catalogue.
const NameSet& catalogue_names();
/// The throwing and nothrow, plain and aligned forms of operator new and new[].
const NameSet& operator_new_names();
/// nullopt: not an allocator function.
std::optional<CatalogueEntry> find_in_catalogue(std::string_view name);

}  // namespace hawk
