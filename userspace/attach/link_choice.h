#pragma once

#include <cstddef>

#include "userspace/tracer/link_scope.h"

namespace hawk {

/// The processes that map the file which most of the traced processes share: the one with their allocator.
struct FileUsers {
  std::size_t targets = 0;
  std::size_t others = 0;  ///< processes that are not traced
};

/// Chooses the scope with the lower total cost, assuming that each process makes the same number of calls. With a link
/// for each process every call of a target pays for the links of all: targets² times the cost of a link. With one link
/// for the file every call of an untraced process pays for additional traps: others times their cost. A few targets
/// always have links of their own: they would save little, and the number of others may grow.
LinkScope choose_links(const FileUsers& users);

/// With this many others choose_links() chooses a link for each process: counting further is not necessary. `targets`:
/// see FileUsers.
std::size_t most_others_to_count(std::size_t targets);

}  // namespace hawk
