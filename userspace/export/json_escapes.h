#pragma once

#include <string>
#include <string_view>

namespace hawk {

/// `json` with escapes for what would command a terminal and which JSON lets stand: DEL, C1, marks of direction. All
/// else beyond ASCII stays readable.
std::string without_commands(std::string_view json);

}  // namespace hawk
