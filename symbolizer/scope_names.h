#pragma once

#include <elfutils/libdw.h>

#include <string>

#include "symbolizer/unit_cache.h"

namespace hawk {

/// The scopes around functions that have no linkage name to tell them: gcc leaves it out for what lies in an anonymous
/// namespace or a local class, and for templates over such types. Without this, `allocate` of std::allocator would read
/// as a function of the user's.
class ScopeNames {
 public:
  /// `units`: of `dwarf`'s file. `alternate`, which may be null: of the file that dwz moved shared parts to.
  ScopeNames(Dwarf* dwarf, UnitCache& units, Dwarf* alternate, UnitCache* alternate_units)
      : dwarf_(dwarf), units_(&units), alternate_(alternate), alternate_units_(alternate_units) {}

  /// "std::allocator<Thing>::" or "run(int)::" for the entry of a function (concrete, inlined or declared); "" when it
  /// is in no scope, or its scope cannot be found.
  std::string prefix(Dwarf_Die* function) { return prefix_at(function, 0); }

 private:
  std::string prefix_at(Dwarf_Die* function, int depth);
  DwarfUnit* unit_of(Dwarf_Die* entry);

  Dwarf* dwarf_;
  UnitCache* units_;
  Dwarf* alternate_;
  UnitCache* alternate_units_;
};

}  // namespace hawk
