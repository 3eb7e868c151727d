#pragma once

#include <optional>
#include <string>

#include "userspace/base/result.h"
#include "userspace/commands/option_values.h"
#include "userspace/report/frame_list.h"

namespace hawk {

/// Reads the value of --hide: a regular expression (POSIX, extended). Fails with kUsage and what is wrong with it.
Result<std::string> parse_pattern(OptionValue value);

/// What reports fold: frames of allocators and libraries, and functions whose name as shown matches `hide` (what
/// parse_pattern gave; nullopt: no others).
RoleOfFunction folded_functions(const std::optional<std::string>& hide);

}  // namespace hawk
