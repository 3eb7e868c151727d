#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bpf/unwind/layout.h"
#include "userspace/unwinding/frame_program.h"
#include "userspace/unwinding/rule_set.h"
#include "userspace/unwinding/unsupported.h"

namespace hawk {

/// Puts the rows of functions, which come in the order of their beginnings, one after the other.
///
/// Functions may overlap: each keeps its rows until its end has been reached, and those that began later lie on top.
///
///     offsets          0        20       40       60       80       100
///     function 1       |===============================================|
///     function 2                |================|
///     function 3                         |================|
///     rows from        1        2        3                1         (gap)
///
/// Every row is moved once, so that time is proportional to the rows.
class RowAssembly {
 public:
  RowAssembly(std::uint64_t base_vaddr, std::size_t max_rows, RuleSet& rules, UnsupportedCounts& unsupported)
      : rules_(rules), unsupported_(unsupported), base_vaddr_(base_vaddr), max_rows_(max_rows) {}

  /// Its instructions must have begun. Its end must be less than 4 GiB after the base.
  void add(std::uint64_t begin, std::uint64_t end, bool is_signal_frame, FrameProgram& program);
  /// Rows up to behind the last function, ascending; neighbours differ.
  std::vector<hawk_row> finish();

 private:
  struct Open {
    std::uint32_t end = 0;
    std::size_t first_row = 0;  ///< in open_rows_
    std::size_t next_row = 0;   ///< the first that has not been passed
  };
  void run(std::uint64_t begin, std::uint64_t end, bool is_signal_frame, FrameProgram& program);
  std::uint32_t number_of(const FrameState& state, bool is_signal_frame);
  void close_up_to(std::uint64_t offset);
  void copy(Open& function, std::uint32_t from, std::uint32_t to);
  void append(std::uint32_t offset, std::uint32_t rule);

  RuleSet& rules_;
  UnsupportedCounts& unsupported_;
  std::uint64_t base_vaddr_;
  std::size_t max_rows_;
  std::uint32_t reached_ = 0;  ///< rows are complete up to here
  std::vector<Open> open_;     ///< not at their end yet; the last lies on top
  std::vector<hawk_row> open_rows_;
  std::vector<hawk_row> rows_;
};

}  // namespace hawk
