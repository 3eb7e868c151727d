#pragma once

#include <sys/types.h>

#include <cstdint>

namespace hawk::testing {

/// The word in the memory of a stopped thread.
std::uint64_t word_at(pid_t thread, std::uint64_t address);

/// Does at once what is left of `rep movs` or `rep stos` with the direction flag clear: every byte would be a step.
/// Returns where the thread is then.
std::uint64_t finish_string(pid_t thread);

/// memset, memcpy and memmove, where they begin.
struct StringFunctions {
  std::uint64_t set = 0, copy = 0, move = 0;

  /// Does what the one does that the thread is about to run at `rip`, and returns from it: their loops take most steps
  /// of all. Returns where the thread is then.
  std::uint64_t run(pid_t thread, std::uint64_t rip) const;
};

}  // namespace hawk::testing
