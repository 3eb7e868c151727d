#pragma once

#include <string>

#include "userspace/analysis/stack_diff.h"
#include "userspace/report/frame_list.h"
#include "userspace/report/units.h"

namespace hawk {

/// How a difference is shown as text.
struct DiffTextOptions {
  RoleOfFunction role_of = {};  ///< what is folded; empty: nothing
  NumberStyle numbers = NumberStyle::kReadable;
  bool full_stacks = false;
};

/// The difference as text: the two states, totals, and each changed stack with its calls.
std::string render_diff_text(const SnapshotDiff& diff, const DiffTextOptions& options);

/// For programs, schema hawktrace.diff/1: as the JSON report, integers only; what is called "change" may be negative.
std::string render_diff_json(const SnapshotDiff& diff);

}  // namespace hawk
