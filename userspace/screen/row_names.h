#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "userspace/report/call_table.h"
#include "userspace/report/styled_line.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// The functions on each line of the list: the caller of the allocator, its position, and its callers, as far as there
/// is room. No two different stacks look the same: if the visible parts are equal, the first call in which they differ
/// is appended.
class RowNames {
 public:
  /// `calls` must outlive it.
  RowNames(const std::vector<const StackRecord*>& stacks, const CallTable& calls);

  /// Appends the names of stack number `row` in what is left of `columns`.
  void add(StyledLine& line, std::size_t row, std::size_t columns) const;
  /// Finds the lines that would look the same if `columns` were left for the names of each.
  void distinguish(std::size_t columns);

 private:
  struct Call {
    std::string name;
    std::string position;
  };
  struct Row {
    std::vector<Call> calls;  ///< as shown
    FrameList frames;         ///< all of them
    std::string otherwise;    ///< shown when there are no calls
    std::uint32_t id = 0;     ///< of the stack
    std::string difference;   ///< what distinguishes the line from equal ones
  };
  /// Of `columns` for the names of a line, so many are for what distinguishes it from equal ones.
  static std::size_t columns_for_difference(const Row& names, std::size_t columns);
  void add_differences(const std::vector<std::size_t>& equal);
  /// The rows whose lines look the same, in groups.
  std::vector<std::vector<std::size_t>> equal_lines(std::size_t columns) const;
  static Row make_row(const StackRecord& stack, const CallTable& calls);

  std::vector<Row> rows_;
};

}  // namespace hawk
