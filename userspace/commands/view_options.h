#pragma once

#include "userspace/base/option_values.h"
#include "userspace/base/result.h"
#include "userspace/commands/command_line.h"
#include "userspace/export/format.h"
#include "userspace/tables/live_ages.h"
#include "userspace/views/call_pattern.h"
#include "userspace/views/grouping.h"
#include "userspace/views/stack_view.h"

namespace hawk {

/// Reads a regular expression (POSIX, extended). Fails with kUsage and what is wrong with it.
Result<CallPattern> parse_pattern(OptionValue value);

/// The rows --focus, --ignore, --hide and --suppressions, explained below `group`. The file of suppressions is read
/// when its option is: what is wrong with it is said before anything is traced.
void add_filter_rows(OptionRows& rows, FrameFilter& filter, const char* group);

/// The rows --min-age, --older-than, --max-age and --generation.
void add_age_rows(OptionRows& rows, AgeWindow& ages, const char* group);

/// The rows --by, --cumulative and --tree.
void add_grouping_rows(OptionRows& rows, Grouping& grouping, const char* group);

/// Refuses groupings that exclude each other, and those that `format` cannot hold.
Result<void> check_grouping(const Grouping& grouping, const Format& format);

}  // namespace hawk
