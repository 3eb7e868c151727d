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
  const Wide quotient = (dividend + divisor / 2) / divisor;
  return static_cast<std::uint64_t>(std::min<Wide>(quotient, std::numeric_limits<std::uint64_t>::max()));
}

}  // namespace

std::string format_bytes(std::uint64_t bytes, NumberStyle style) {
  static constexpr std::array<std::string_view, 6> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (style == NumberStyle::kRaw || bytes < 1024) return fmt::format("{} B", bytes);
  std::size_t unit = 0;
  std::uint64_t unit_bytes = 1024;
  std::uint64_t hundredths = divide_rounded(Wide{bytes} * 100, unit_bytes);
  // Compared after rounding, so that 1,048,575 bytes are "1.00 MiB" and never "1024.00 KiB".
  while (hundredths >= 1024 * 100 && unit + 1 < kUnits.size()) {
    ++unit;
    unit_bytes *= 1024;
    hundredths = divide_rounded(Wide{bytes} * 100, unit_bytes);
  }
  return fmt::format("{}.{:02} {}", hundredths / 100, hundredths % 100, kUnits[unit]);
}

std::string format_count(std::uint64_t count, NumberStyle style) {
  std::string digits = fmt::format("{}", count);
  if (style == NumberStyle::kRaw) return digits;
  for (std::size_t end = digits.size(); end > 3; end -= 3) digits.insert(end - 3, 1, ',');
  return digits;
}

std::string format_blocks(std::uint64_t count, NumberStyle style) {
  return format_count(count, style) + (count == 1 ? " block" : " blocks");
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
  return fmt::format("{}.{} %", permille / 10, permille % 10);
}

std::uint64_t average_bytes(std::uint64_t bytes, std::uint64_t blocks) {
  return blocks == 0 ? 0 : divide_rounded(bytes, blocks);
}

std::uint64_t per_second(std::uint64_t amount, std::uint64_t elapsed_ns) {
  return elapsed_ns == 0 ? 0 : divide_rounded(Wide{amount} * 1'000'000'000, elapsed_ns);
}

}  // namespace hawk
