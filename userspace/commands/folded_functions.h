#pragma once

#include <optional>
#include <string>

#include "userspace/report/frame_list.h"

namespace hawk {

/// What the live screen folds: frames of allocators and libraries, and functions whose name as shown matches `hide`,
/// which is a regular expression (nullopt: no others). A report takes the latter out of its stacks: a screen, on which
/// a stack can be opened, does not.
RoleOfFunction folded_functions(const std::optional<std::string>& hide);

}  // namespace hawk
