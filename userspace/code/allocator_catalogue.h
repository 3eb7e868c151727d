#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "bpf/kinds.h"
#include "userspace/elf/name_set.h"

namespace hawk {

/// The registers in which a call passes what its kind calls the first three arguments, by the numbers that instructions
/// encode.
using ArgumentRegisters = std::array<std::uint8_t, 3>;
/// System V AMD64 ABI.
inline constexpr ArgumentRegisters kPassedInOrder = {HAWK_RDI, HAWK_RSI, HAWK_RDX};

/// One function that hands out or takes back memory.
struct CatalogueEntry {
  std::string_view name;  ///< as in the symbol table
  hawk_call_kind kind = HAWK_CALL_NONE;
  bool is_operator = false;  ///< a C++ operator new or delete, whatever its name
  bool may_throw = false;
  /// Others use the name for functions of their own: it means something only in a file with others, of the same
  /// family if it has the prefix of one.
  bool needs_company = false;
  ArgumentRegisters arguments = kPassedInOrder;

  /// Its calls can be counted, but what they do to which block is not known.
  bool is_unfollowed() const { return kind >= HAWK_CALL_UNFOLLOWED; }
};

/// An allocator whose functions have names with a prefix of their own.
struct AllocatorFamily {
  std::string_view prefix;
  std::string_view evidence;  ///< a file that defines this function has the allocator in it
};

/// Every name in the catalogue.
const NameSet& catalogue_names();
/// The throwing and nothrow, plain and aligned forms of operator new and new[].
const NameSet& operator_new_names();
/// nullopt: not an allocator function. The entry's name lives as long as `name` if that is in no list.
std::optional<CatalogueEntry> find_in_catalogue(std::string_view name);
/// The same of names whose end differs from build to build, so that no list has them.
std::optional<CatalogueEntry> find_by_beginning(std::string_view name);

std::span<const AllocatorFamily> allocator_families();
/// The prefix of the family whose name it may be; empty: of none.
std::string_view family_prefix(std::string_view name);
/// Whether a function of an allocator is known neither to hand out a block nor to resize or take one back. What is
/// known in neither way, future versions' functions above all, is counted when it is called.
bool leaves_blocks_alone(std::string_view name);

}  // namespace hawk
