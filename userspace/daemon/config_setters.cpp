#include "userspace/daemon/config_setters.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace hawk {

tl::unexpected<Error> refuse_value(const std::string& where, std::string_view why, std::string hint) {
  return fail(ExitCode::kUsage, fmt::format("{}: {}", where, why), std::move(hint));
}

Result<std::string> string_of(const TomlValue& value, const std::string& where) {
  const std::string* text = std::get_if<std::string>(&value.value);
  if (text == nullptr) return refuse_value(where, "this is no text", "put the value between quotes");
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (text->empty()) return refuse_value(where, "the text is empty", "remove the key to have its default");
  if (std::any_of(text->begin(), text->end(), is_control)) {
    return refuse_value(where, "the text has control characters", "write it in one line, without tabs");
  }
  return *text;
}

Result<std::vector<std::string>> strings_of(const TomlValue& value, const std::string& where) {
  const auto* array = std::get_if<TomlValue::Array>(&value.value);
  if (array == nullptr) return std::vector<std::string>{HAWK_TRY(string_of(value, where))};
  std::vector<std::string> texts;
  for (const TomlValue& element : *array) texts.push_back(HAWK_TRY(string_of(element, where)));
  return texts;
}

Result<std::vector<std::string>> comms_of(const TomlValue& value, const std::string& where) {
  constexpr std::size_t kLongest = 15;  // TASK_COMM_LEN - 1
  Result<std::vector<std::string>> comms = strings_of(value, where);
  if (!comms) return comms;
  for (const std::string& comm : *comms) {
    if (comm.size() <= kLongest) continue;
    return refuse_value(where,
                        fmt::format("the kernel keeps {} bytes of a process's name, and this has more", kLongest),
                        fmt::format("write '{}', or use name or exe", comm.substr(0, kLongest)));
  }
  return comms;
}

Result<std::vector<std::string>> path_patterns_of(const TomlValue& value, const std::string& where) {
  Result<std::vector<std::string>> patterns = strings_of(value, where);
  if (!patterns) return patterns;
  for (const std::string& pattern : *patterns) {
    const bool is_path = pattern.find('/') != std::string::npos;
    if (!is_path || std::string_view("/*?[").find(pattern.front()) != std::string_view::npos) continue;
    return refuse_value(where, "no path matches that: paths begin with a slash", "begin the pattern with / or */");
  }
  return patterns;
}

Result<std::map<std::string, std::string>> string_table_of(const TomlValue& value, const std::string& where) {
  const auto* table = std::get_if<TomlValue::Table>(&value.value);
  if (table == nullptr) return refuse_value(where, "this is no table", "write { name = \"value\" }");
  std::map<std::string, std::string> texts;
  for (const TomlEntry& entry : *table) texts[entry.key] = HAWK_TRY(string_of(entry.value, where));
  return texts;
}

Result<std::string> absolute_path_of(const TomlValue& value, const std::string& where) {
  Result<std::string> path = string_of(value, where);
  if (!path || path->starts_with('/')) return path;
  return refuse_value(where, fmt::format("'{}' does not begin with a slash", *path), "write the whole path");
}

Result<bool> flag_of(const TomlValue& value, const std::string& where) {
  if (const bool* flag = std::get_if<bool>(&value.value)) return *flag;
  return refuse_value(where, "this is neither true nor false", "write true or false, without quotes");
}

Result<std::uint64_t> number_of(const TomlValue& value, const std::string& where, std::uint64_t min,
                                std::uint64_t max) {
  const std::int64_t* number = std::get_if<std::int64_t>(&value.value);
  if (number != nullptr && *number >= 0 && static_cast<std::uint64_t>(*number) >= min &&
      static_cast<std::uint64_t>(*number) <= max) {
    return static_cast<std::uint64_t>(*number);
  }
  return refuse_value(where, fmt::format("this is no whole number from {} to {}", min, max),
                      "write it without quotes and fraction");
}

Result<double> percent_of(const TomlValue& value, const std::string& where, double max) {
  double percent = NAN;
  if (const std::int64_t* number = std::get_if<std::int64_t>(&value.value)) percent = static_cast<double>(*number);
  if (const double* number = std::get_if<double>(&value.value)) percent = *number;
  if (percent > 0 && percent <= max) return percent;
  return refuse_value(where, fmt::format("this is no number of per cent above 0 and up to {}", max),
                      "write it without quotes: 2.5");
}

}  // namespace hawk
