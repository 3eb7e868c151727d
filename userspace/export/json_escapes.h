#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>

namespace hawk {

/// `json` as text without commands (below). Names come from the target and from debug information, so they may be any
/// bytes: replaced, never thrown over. `indent`: -1 for one line.
std::string json_text(const nlohmann::ordered_json& json, int indent);

/// Appends a string, quoted.
void append_json_text(std::string& out, std::string_view text);

/// `json` with escapes for what would command a terminal and which JSON lets stand: DEL, C1, marks of direction. All
/// else beyond ASCII stays readable.
std::string without_commands(std::string_view json);

}  // namespace hawk
