#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "userspace/base/result.h"

namespace hawk {

struct TomlEntry;

/// A value of a TOML document, with the line that it begins in. What TOML knows beyond these (dates, times) is refused.
struct TomlValue {
  using Array = std::vector<TomlValue>;
  using Table = std::vector<TomlEntry>;
  std::variant<bool, std::int64_t, double, std::string, Array, Table> value;
  std::uint32_t line = 0;
};

/// A key of a table, without quotes, and its value.
struct TomlEntry {
  std::string key;
  TomlValue value;
};

/// The largest document that is read.
inline constexpr std::size_t kMaxTomlBytes = std::size_t{1} << 20;

/// Reads a document. `file` is what messages call it: "FILE:LINE: WHY". Fails with kUsage.
Result<TomlValue::Table> parse_toml(std::string_view text, const std::string& file);

}  // namespace hawk
