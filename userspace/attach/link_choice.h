#pragma once

#include <cstddef>

#include "userspace/tracer/link_scope.h"

namespace hawk {

/// Who maps the file that most of the traced processes have in common: the one with their allocator.
struct FileUsers {
  std::size_t targets = 0;
  std::size_t others = 0;  ///< processes that are not traced
};

/// Chooses what costs all of them together less, as if each made as many calls as any other. With a link for each
/// process every call of a target pays for the links of all: targets² times the cost of a link. With one link for the
/// file every call of the others pays for traps that would not be: others times their cost. A few targets always have
/// links of their own: what they would save is little, and the others may become more.
LinkScope choose_links(const FileUsers& users);

/// So many others, and choose_links() is for a link for each process: there is no need to count further. `targets`: see
/// FileUsers.
std::size_t most_others_to_count(std::size_t targets);

}  // namespace hawk
