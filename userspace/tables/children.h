#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hawk {

/// Programs that child processes of the target ran, which are not traced.
struct ChildProgram {
  std::string comm;         ///< as the kernel has it: at most 15 bytes
  std::uint64_t count = 0;  ///< times that it was started
  bool operator==(const ChildProgram&) const = default;
};

/// The processes that the target started during the trace, and those that they started.
/// losses[HAWK_LOSS_UNTRACED_CHILD] is their number.
struct UntracedChildren {
  std::uint64_t without_exec = 0;      ///< that ran no program of their own: copies of the process that forked them
  std::vector<ChildProgram> programs;  ///< by falling count, then by name; as many as there was room for
  bool operator==(const UntracedChildren&) const = default;
};

}  // namespace hawk
