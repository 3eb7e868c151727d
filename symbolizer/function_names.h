#pragma once

#include <elfutils/libdw.h>

#include <string>
#include <string_view>

#include "symbolizer/unit_cache.h"

namespace hawk {

/// Names of functions from their entries: concrete, inlined or declared. What an entry does not say itself is said by
/// the one that it refers to, which may lie in another unit (link-time optimisation) or another file (dwz). Texts live
/// as long as the image of their file.
class FunctionNames {
 public:
  /// `units`, and `alternate` of what dwz moved out of the file, which may be null: must outlive this.
  FunctionNames(UnitCache& units, UnitCache* alternate) : units_(&units), alternate_(alternate) {}

  /// The name for the linker; nullptr when there is none, as in C.
  static const char* linkage_name(Dwarf_Die* function);
  /// The bare name; "" for what has none.
  static std::string_view source_name(Dwarf_Die* entry);
  /// "std::allocator<Thing>::" or "run(int)::"; "" when the function is in no scope.
  ///
  /// gcc leaves the linkage name out for what lies in an anonymous namespace or a local class, and for templates over
  /// such types. Without its scope, `allocate` of std::allocator would read as a function of the user's.
  std::string scope_prefix(const Dwarf_Die& function) { return prefix_at(function, 0); }
  /// The entry that `entry` refers to for what it does not say itself; false when there is none.
  static bool origin_of(Dwarf_Die* entry, Dwarf_Die* origin);

 private:
  DwarfUnit* unit_of(const Dwarf_Die& entry);
  std::string prefix_at(Dwarf_Die function, int depth);

  UnitCache* units_;
  UnitCache* alternate_;
};

}  // namespace hawk
