#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bpf/unwind/layout.h"
#include "userspace/code/allocator_file.h"
#include "userspace/code/call_site_rules.h"
#include "userspace/unwinding/rule_set.h"
#include "userspace/unwinding/unwind_table.h"

namespace hawk {

/// What is to be found out about a file.
struct FileWants {
  bool code = false;
  Plans plans = Plans::kNone;  ///< of that: how calls are seen without a return probe
  bool table = false;
};

/// What a file's symbols and code say. Empty for nearly every file.
struct FileCode {
  bool is_go = false;              ///< a program made by Go's linker
  bool is_dynamic_linker = false;  ///< it allocates on behalf of an allocator
  AllocatorFile allocator;
  std::optional<OperatorFrames> operator_frames;
};

/// A file's unwind table, which brings its own rules.
struct FileTable {
  UnwindTable table;  ///< number HAWK_FIRST_RULE + i in its rows stands for `rules[i]`
  std::vector<hawk_rule> rules;
  std::uint64_t rules_refused = 0;  ///< see RuleSet::refused
  std::chrono::nanoseconds took{};  ///< to read it

  /// The table, with the numbers of `set` in its rows.
  UnwindTable numbered_by(RuleSet& set) &&;
};

/// What was found out about a file.
struct FileStudy {
  std::optional<FileCode> code;    ///< nullopt: not asked for, or see `gap`
  std::optional<FileTable> table;  ///< the same
  std::string gap;                 ///< why something is missing that was asked for
};

}  // namespace hawk
