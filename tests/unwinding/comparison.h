#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bpf/layout.h"
#include "tests/unwinding/host_walk.h"
#include "tests/unwinding/libdw_unwinder.h"
#include "tests/unwinding/process_tables.h"
#include "tests/unwinding/stack_dump.h"

namespace hawk {

/// Both unwinders, for the process that a dump is of. Consecutive dumps of a process share what they need.
class Unwinders {
 public:
  /// Until the next call, what the others below are about.
  void turn_to(const StackDump& dump);
  /// The kernel's walk, from the caller of the allocator on, by a thread that keeps what it knows from one call to the
  /// next.
  HostWalk ours(const StackDump& dump, hawk_unwind mode = HAWK_UNWIND_CFI, std::uint32_t max_depth = HAWK_MAX_FRAMES);
  /// The same by a thread that has never walked.
  HostWalk ours_afresh(const StackDump& dump, hawk_unwind mode = HAWK_UNWIND_CFI,
                       std::uint32_t max_depth = HAWK_MAX_FRAMES) const;
  UnwoundStack theirs(const StackDump& dump, std::uint32_t max_depth = HAWK_MAX_FRAMES);
  LibdwUnwinder& libdw() { return *libdw_; }
  const HostTables& tables() const { return tables_; }

 private:
  ProcessTables files_;
  HostTables tables_;
  HostThread thread_;
  std::unique_ptr<LibdwUnwinder> libdw_;
  const char* maps_ = nullptr;
};

/// "outermost_frame" for HAWK_END_OUTERMOST.
std::string_view end_name(std::uint32_t end);

/// Whether a walk found the whole stack and guessed nothing.
bool is_complete(const HostWalk& walk);

/// Number of frames from the first on that are the same.
std::size_t common_frames(const std::vector<std::uint64_t>& some, const std::vector<std::uint64_t>& others);

/// What came of all stacks of a program.
struct Comparison {
  std::size_t stacks = 0, frames = 0, distinct = 0;
  std::size_t equal = 0;          ///< all frames, and whether the stack is complete
  std::size_t complete = 0;       ///< ours
  std::size_t depth_limited = 0;  ///< equal, and deeper than HAWK_MAX_FRAMES
  std::size_t cut = 0;            ///< dumps that do not hold all of their stack
  std::size_t code_ranges = 0;    ///< most of one process
  std::size_t known_steps = 0;
  std::map<std::string, std::size_t> known;  ///< differences, by the allow-list's cause
  /// Other differences, also of whether a stack is complete, and from the walk of a new thread; and stacks that both
  /// leave incomplete: where and why, and how often.
  std::map<std::string, std::size_t> unknown, incomplete;

  double equal_percent() const { return percent(equal); }
  /// Stacks deeper than HAWK_MAX_FRAMES are left out: what is missing there was not asked for.
  double complete_percent() const { return percent(complete + depth_limited); }
  std::string text(const std::string& program) const;

 private:
  double percent(std::size_t part) const {
    return stacks ? 100.0 * static_cast<double>(part) / static_cast<double>(stacks) : 0.0;
  }
};

Comparison compare(const std::vector<DumpFile>& images);

}  // namespace hawk
