#include "userspace/report/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

namespace hawk {
namespace {

// Products of two 64-bit numbers: a share or a rate of huge numbers must not overflow.
using Wide = unsigned __int128;

std::uint64_t divide_rounded(Wide dividend, std::uint64_t divisor) {
  const Wide rounded = dividend + divisor / 2;
  // Divisions of 128 bits take several times as long.
  if (rounded <= std::numeric_limits<std::uint64_t>::max()) return static_cast<std::uint64_t>(rounded) / divisor;
  const Wide quotient = rounded / divisor;
  return static_cast<std::uint64_t>(std::min<Wide>(quotient, std::numeric_limits<std::uint64_t>::max()));
}

/// 1234 as "12.34", or with one decimal as "123.4". Reports have hundreds of thousands of numbers: fmt::format takes
/// several times as long.
std::string with_decimals(std::uint64_t number, std::size_t decimals) {
  std::string digits = fmt::format_int(number).str();
  if (digits.size() <= decimals) digits.insert(0, decimals + 1 - digits.size(), '0');
  return digits.insert(digits.size() - decimals, 1, '.');
}

}  // namespace

std::string format_bytes(std::uint64_t bytes, NumberStyle style) {
  static constexpr std::array<std::string_view, 6> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (style == NumberStyle::kRaw || bytes < 1024) return fmt::format_int(bytes).str() + " B";
  std::size_t unit = 0;
  std::uint64_t unit_bytes = 1024;
  std::uint64_t hundredths = divide_rounded(Wide{bytes} * 100, unit_bytes);
  // Compared after rounding, so that 1,048,575 bytes are "1.00 MiB" and never "1024.00 KiB".
  while (hundredths >= 1024 * 100 && unit + 1 < kUnits.size()) {
    ++unit;
    unit_bytes *= 1024;
    hundredths = divide_rounded(Wide{bytes} * 100, unit_bytes);
  }
  return with_decimals(hundredths, 2).append(1, ' ').append(kUnits[unit]);
}

std::string format_count(std::uint64_t count, NumberStyle style) {
  std::string digits = fmt::format_int(count).str();
  if (style == NumberStyle::kRaw) return digits;
  for (std::size_t end = digits.size(); end > 3; end -= 3) digits.insert(end - 3, 1, ',');
  return digits;
}

std::string format_blocks(std::uint64_t count, NumberStyle style) {
  return format_count(count, style) + (count == 1 ? " block" : " blocks");
}

std::string format_stacks(std::uint64_t count, NumberStyle style) {
  return format_count(count, style) + (count == 1 ? " stack" : " stacks");
}

std::string worded_for(std::uint64_t count, std::string_view text) {
  std::string worded;
  while (!text.empty()) {
    const std::size_t open = std::min(text.find('{'), text.size());
    worded += text.substr(0, open);
    text.remove_prefix(open);
    const std::size_t bar = text.find('|');
    const std::size_t close = text.find('}');
    if (bar == std::string_view::npos || close == std::string_view::npos || bar > close) break;
    worded += count == 1 ? text.substr(1, bar - 1) : text.substr(bar + 1, close - bar - 1);
    text.remove_prefix(close + 1);
  }
  return worded;
}

std::string format_bytes_change(std::uint64_t before, std::uint64_t after, NumberStyle style) {
  if (before == after) return "0 B";
  return after > before ? "+" + format_bytes(after - before, style) : "-" + format_bytes(before - after, style);
}

std::string format_duration(std::uint64_t duration_ns) {
  const std::uint64_t ms = duration_ns / 1'000'000;
  const std::uint64_t seconds = ms / 1000;
  if (seconds == 0) return fmt::format("{} ms", ms);
  if (seconds < 60) return fmt::format("{}.{} s", seconds, ms % 1000 / 100);
  const std::uint64_t minutes = seconds / 60;
  if (minutes < 60) return fmt::format("{} m {:02} s", minutes, seconds % 60);
  const std::uint64_t hours = minutes / 60;
  if (hours < 24) return fmt::format("{} h {:02} m", hours, minutes % 60);
  return fmt::format("{} d {:02} h", hours / 24, hours % 24);
}

std::string format_share(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return "0.0 %";
  const std::uint64_t permille = divide_rounded(Wide{part} * 1000, whole);
  if (permille == 0 && part != 0) return "<0.1 %";
  if (permille == 1000 && part < whole) return ">99.9 %";
  return with_decimals(permille, 1) + " %";
}

std::uint64_t average_bytes(std::uint64_t bytes, std::uint64_t blocks) {
  return blocks == 0 ? 0 : divide_rounded(bytes, blocks);
}

std::uint64_t per_second(std::uint64_t amount, std::uint64_t elapsed_ns) {
  return elapsed_ns == 0 ? 0 : divide_rounded(Wide{amount} * 1'000'000'000, elapsed_ns);
}

}  // namespace hawk
