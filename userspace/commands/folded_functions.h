#pragma once

#include <optional>
#include <string>

#include "userspace/report/frame_list.h"

namespace hawk {

/// The frames that the live screen folds: those of allocators and libraries, and functions whose displayed name matches
/// the regular expression `hide` (nullopt: no others). A report removes the latter from its stacks; a screen, on which
/// a stack can be opened, does not.
RoleOfFunction folded_functions(const std::optional<std::string>& hide);

}  // namespace hawk
