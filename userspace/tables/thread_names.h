#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "userspace/tables/shared_table.h"

namespace hawk {

/// What became known of a thread of a target. The list of them only grows.
struct ThreadEvent {
  std::uint64_t time_ns = 0;        ///< of the reading that found it out, since the trace began
  int tid = 0;                      ///< in our pid namespace
  std::optional<std::string> name;  ///< what it is called from now on; nullopt: it has ended
  bool operator==(const ThreadEvent&) const = default;
};

/// So many names of threads are kept of a target; those that come later are not.
inline constexpr std::size_t kMaxThreadNames = 32768;

/// A thread under one name: one that is renamed is there again.
struct NamedThread {
  int tid = 0;
  std::string name;
  std::uint64_t first_seen_ns = 0;       ///< the reading that found it, since the trace began
  std::optional<std::uint64_t> gone_ns;  ///< the reading that missed it, or its name; nullopt: none did
  bool operator==(const NamedThread&) const = default;
};

/// The threads that `events` name, in the order in which they were found.
std::vector<NamedThread> named_threads(const SharedTable<ThreadEvent>& events);

}  // namespace hawk
