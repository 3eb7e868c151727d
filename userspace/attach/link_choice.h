#pragma once

#include <cstddef>

#include "userspace/tracer/link_scope.h"

namespace hawk {

/// The processes that map the file which most of the traced processes share: the one with their allocator.
struct FileUsers {
  std::size_t targets = 0;
  std::size_t others = 0;  ///< processes that are not traced
};

/// What a malloc and free costs more, in nanoseconds: only the ratio matters.
struct LinkCosts {
  std::size_t link_ns;      ///< in a target, for each other one: with links for processes, less those for files
  std::size_t stranger_ns;  ///< in a process that is not traced, with links for files
};

/// Of uprobe sessions, measured on Linux 6.18 (scripts/bench --rows targets).
inline constexpr LinkCosts kCostsOfSessions = {.link_ns = 105, .stranger_ns = 1300};
/// Of perf events that processes inherit (InheritedProbes), while other work on the processors keeps the caches cold: a
/// quiet machine is faster by a third.
inline constexpr LinkCosts kCostsOfInherited = {.link_ns = 7, .stranger_ns = 1400};

/// Chooses the scope with the lower total cost, assuming that each process makes the same number of calls. With a link
/// for each process every call of a target pays for the links of all: targets² times the cost of a link. With one link
/// for the file every call of an untraced process pays for additional traps: others times their cost. A few targets
/// always have links of their own: they would save little, and the number of others may grow.
LinkScope choose_links(const FileUsers& users, const LinkCosts& costs);

/// With this many others choose_links() chooses a link for each process: counting further is not necessary. `targets`:
/// see FileUsers.
std::size_t most_others_to_count(std::size_t targets, const LinkCosts& costs);

/// Whether to choose again, because there are so many more targets than the last time.
bool should_choose_again(std::size_t targets, std::size_t targets_then);

}  // namespace hawk
