#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hawk {

/// Calls of a stack that share one line: those of one function in a row, or some that are folded.
struct CallRun {
  static constexpr std::uint32_t kFolded = ~std::uint32_t{0};
  std::uint32_t function_number = kFolded;
  std::uint32_t first = 0;  ///< index in the list of calls
  std::uint32_t count = 0;

  bool is_folded() const { return function_number == kFolded; }
  /// Whether both read the same.
  bool is_same_line(const CallRun& other) const {
    return function_number == other.function_number && count == other.count;
  }
};

/// Lines that occur two or more times in succession, as with functions that call each other in turn.
struct Cycle {
  std::size_t first = 0;   ///< index of the first line
  std::size_t period = 0;  ///< so many lines
  std::size_t rounds = 0;  ///< so often

  /// The ends of the first round and of the last one (exclusive).
  std::size_t end_of_first() const { return first + period; }
  std::size_t end() const { return first + period * rounds; }
};

/// The cycles in the lines of a stack, in their order, none of which overlaps another: those that save lines if they
/// are shown once.
std::vector<Cycle> find_cycles(const std::vector<CallRun>& lines);

}  // namespace hawk
