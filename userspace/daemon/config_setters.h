#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "userspace/base/option_values.h"
#include "userspace/base/result.h"
#include "userspace/daemon/toml_document.h"

namespace hawk {

// What sets a value of the configuration: functions for ConfigKey::set.

using ConfigSetter = std::function<Result<void>(const TomlValue& value, const std::string& where)>;

/// "WHERE: WHY".
tl::unexpected<Error> refuse_value(const std::string& where, std::string_view why, std::string hint);
/// Text between quotes, without control characters.
Result<std::string> string_of(const TomlValue& value, const std::string& where);
/// A text, or an array of such.
Result<std::vector<std::string>> strings_of(const TomlValue& value, const std::string& where);
/// Each as the kernel has names of processes.
Result<std::vector<std::string>> comms_of(const TomlValue& value, const std::string& where);
/// Each a pattern of paths, or of the names of files.
Result<std::vector<std::string>> path_patterns_of(const TomlValue& value, const std::string& where);
Result<std::map<std::string, std::string>> string_table_of(const TomlValue& value, const std::string& where);
/// A path from the root on.
Result<std::string> absolute_path_of(const TomlValue& value, const std::string& where);
Result<bool> flag_of(const TomlValue& value, const std::string& where);
Result<std::uint64_t> number_of(const TomlValue& value, const std::string& where, std::uint64_t min, std::uint64_t max);
/// More than 0 and at most `max`, with or without a fraction.
Result<double> percent_of(const TomlValue& value, const std::string& where, double max);

/// For messages of the functions in option_values.h.
inline OptionValue option_value(const std::string& where, const std::string& text) {
  return {.option = where, .text = text, .command = "hawktrace config"};
}

/// Each with a function that makes the value of a TomlValue.
template <class Target, class Read>
ConfigSetter set_with(Target& target, Read read) {
  return [&target, read](const TomlValue& value, const std::string& where) -> Result<void> {
    target = static_cast<Target>(HAWK_TRY(read(value, where)));
    return {};
  };
}

template <class Size>
ConfigSetter set_bytes(Size& target) {
  return set_with(target, [](const TomlValue& value, const std::string& where) -> Result<std::uint64_t> {
    const std::string text = HAWK_TRY(string_of(value, where));
    return parse_size_bytes(option_value(where, text));
  });
}

template <class Span>
ConfigSetter set_span(Span& target, std::chrono::nanoseconds min) {
  return [&target, min](const TomlValue& value, const std::string& where) -> Result<void> {
    const std::string text = HAWK_TRY(string_of(value, where));
    target = std::chrono::duration_cast<Span>(HAWK_TRY(parse_time_span(option_value(where, text), min)));
    return {};
  };
}

template <class Number>
ConfigSetter set_count(Number& target, std::uint32_t min, std::uint32_t max) {
  return set_with(target, [min, max](const TomlValue& value, const std::string& where) -> Result<std::uint32_t> {
    return static_cast<std::uint32_t>(HAWK_TRY(number_of(value, where, min, max)));
  });
}

inline ConfigSetter set_percent(std::optional<double>& target, double max) {
  return set_with(target,
                  [max](const TomlValue& value, const std::string& where) { return percent_of(value, where, max); });
}

/// The one of `choices` that has the name.
template <class Target, class Enum, std::size_t N>
ConfigSetter set_named(Target& target, const std::array<Enum, N>& choices, std::string_view (*name_of)(Enum)) {
  return set_with(target, [choices, name_of](const TomlValue& value, const std::string& where) -> Result<Enum> {
    const std::string text = HAWK_TRY(string_of(value, where));
    std::array<std::string_view, N> names;
    std::transform(choices.begin(), choices.end(), names.begin(), name_of);
    return choices[HAWK_TRY(parse_choice(option_value(where, text), names))];
  });
}

}  // namespace hawk
