#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "symbolizer/unit_cache.h"

namespace hawk {

/// An entry of .debug_info, of one of the files that refer to each other.
struct EntryPlace {
  UnitCache* file = nullptr;
  DwarfUnit* unit = nullptr;
  std::uint64_t entry = 0;
};

/// Names of functions from their entries: concrete, inlined or declared. What an entry does not say itself is said by
/// the one that it refers to, which may lie in another unit (link-time optimisation) or another file (dwz).
class FunctionNames {
 public:
  /// `alternate`, which may be null: what dwz moved out of the file. Must outlive this.
  explicit FunctionNames(UnitCache* alternate) : alternate_(alternate) {}

  /// The name for the linker; "" when there is none, as in C. Lies in the image or the unit.
  std::string_view linkage_name(EntryPlace function) { return text(function, Slot::kLinkageName); }
  /// The bare name; "" for what has none.
  std::string_view source_name(EntryPlace function) { return text(function, Slot::kName); }
  /// "std::allocator<Thing>::" or "run(int)::"; "" when the function is in no scope.
  ///
  /// gcc leaves the linkage name out for what lies in an anonymous namespace or a local class, and for templates over
  /// such types. Without its scope, `allocate` of std::allocator would read as a function of the user's.
  std::string scope_prefix(EntryPlace function) { return prefix_at(function, 0); }

 private:
  std::string_view text(EntryPlace place, Slot slot);
  std::optional<EntryPlace> origin_of(const EntryPlace& place, const Entry& entry);
  std::string scope_name(const EntryPlace& scope, std::uint16_t tag);
  std::string prefix_at(EntryPlace function, int depth);

  UnitCache* alternate_;
};

}  // namespace hawk
