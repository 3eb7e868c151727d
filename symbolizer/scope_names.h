#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace hawk {

/// The scopes around functions that have no linkage name to tell them: gcc leaves it out for what lies in an anonymous
/// namespace or a local class, and for templates over such types. Without this, `allocate` of std::allocator would read
/// as a function of the user's.
///
/// DWARF entries do not know their parents, so the unit of a function is walked once, when its first name is asked; the
/// entries of all walks together are bounded, for damaged files.
class ScopeNames {
 public:
  /// "std::allocator<Thing>::" or "run(int)::" for the entry of a function (concrete, inlined or declared); "" when it
  /// is in no scope, or its scope cannot be found.
  std::string prefix(Dwarf_Die* function) { return prefix_at(function, 0); }

 private:
  struct Scope {
    Dwarf_Die die;
    std::uint32_t parent;
  };
  std::string prefix_at(Dwarf_Die* function, int depth);
  void index_unit(Dwarf_Die* function);
  void collect(Dwarf_Die* parent, std::uint32_t scope, int depth);

  std::uint64_t budget_ = std::uint64_t{64} << 20;  ///< entries that may still be visited
  std::unordered_set<const void*> indexed_units_;
  std::vector<Scope> scopes_{Scope{}};                       ///< the first stands for "in no scope"
  std::unordered_map<const void*, std::uint32_t> scope_of_;  ///< entry of a function → index of its scope
};

}  // namespace hawk
