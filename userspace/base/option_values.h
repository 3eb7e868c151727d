#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "userspace/base/result.h"

namespace hawk {

/// An option and the text the user gave it. All parsers below fail with kUsage, in one line that names both, and with
/// a hint that names what would be valid.
struct OptionValue {
  std::string_view option;  ///< as it is spelled in full: "--top"
  std::string_view text;
  std::string_view command = "hawktrace";  ///< whose --help explains the option
  /// Set by who wants to know what could be given, and gives nothing: parse_choice() puts its names there, and fails.
  std::vector<std::string_view>* choices = nullptr;
};

/// The longest time span that can be asked for: a year.
inline constexpr std::chrono::nanoseconds kMaxTimeSpan = std::chrono::hours(8760);

/// A decimal whole number from `min` to `max`. No sign, no unit, nothing after it.
Result<std::uint64_t> parse_number(OptionValue value, std::uint64_t min, std::uint64_t max);

/// Seconds, "0.2" or "10", or numbers with units, the largest first or not: "250ms", "1.5s", "1h30m". At least `min`,
/// at most kMaxTimeSpan.
Result<std::chrono::nanoseconds> parse_time_span(OptionValue value, std::chrono::nanoseconds min);

/// Bytes: "4096", "4k", "4K", "4KiB", and so on with M, G and T: powers of 1024. "KB" and its like are refused because
/// they mean 1000 to some and 1024 to others.
Result<std::uint64_t> parse_size_bytes(OptionValue value);

/// Process ids, one or several with blanks or commas between them, as pidof and pgrep print them: 1 to 2^31 - 1, and
/// not `own_pid`.
Result<std::vector<int>> parse_pids(OptionValue value, int own_pid);

/// A descriptor that is open in this process.
Result<int> parse_open_fd(OptionValue value);

/// Index of the text in `names`. The hint names the nearest one.
Result<std::size_t> parse_choice(OptionValue value, std::span<const std::string_view> names);

/// The name that one or two typing errors turn into `text`; empty when there is none.
std::string_view nearest_name(std::string_view text, std::span<const std::string_view> names);

}  // namespace hawk
