#pragma once

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

namespace hawk {

/// The value of "Name:\tvalue" in a file such as /proc/PID/status or /proc/PID/fdinfo/FD, without leading blanks; empty
/// when there is none.
std::string_view status_field(std::string_view status, std::string_view name);

/// What begins with field number `field`, 3 or higher, of /proc/PID/stat (proc(5)); empty when there is none. Field 2
/// is the name in parentheses and may contain anything, blanks and ')' included.
std::string_view stat_from_field(std::string_view stat, int field);

/// The number at the beginning of `text`, after blanks.
template <class Number>
std::optional<Number> leading_number(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  Number number = 0;
  const std::from_chars_result parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  return parsed.ec == std::errc() ? std::optional(number) : std::nullopt;
}

}  // namespace hawk
