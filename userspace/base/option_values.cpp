#include "userspace/base/option_values.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace hawk {
namespace {

using std::chrono::nanoseconds;

tl::unexpected<Error> refuse(OptionValue value, std::string_view why, std::string hint) {
  return fail(ExitCode::kUsage, fmt::format("{}: '{}' {}", value.option, value.text, why), std::move(hint));
}

tl::unexpected<Error> too_small(OptionValue value, std::string_view nearest) {
  return refuse(value, "is too small", fmt::format("the smallest valid value is {}", nearest));
}

tl::unexpected<Error> too_large(OptionValue value, std::string_view nearest) {
  return refuse(value, "is too large", fmt::format("the largest valid value is {}", nearest));
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool all_digits(std::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), is_digit); }

bool is_negative_number(std::string_view text) { return text.starts_with('-') && all_digits(text.substr(1)); }

/// The value of a row of digits; nullopt when 64 bits do not hold it.
std::optional<std::uint64_t> digits_value(std::string_view digits) {
  std::uint64_t number = 0;
  const std::from_chars_result end = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (end.ec != std::errc()) return std::nullopt;
  return number;
}

/// The digits that `text` begins with, and the unit behind them.
struct Quantity {
  std::string_view digits;
  std::string_view unit;
};

Quantity split_quantity(std::string_view text) {
  const auto unit = std::find_if_not(text.begin(), text.end(), is_digit);
  const std::size_t digit_count = static_cast<std::size_t>(unit - text.begin());
  return {text.substr(0, digit_count), text.substr(digit_count)};
}

std::optional<nanoseconds> time_unit(std::string_view unit) {
  if (unit == "ms") return std::chrono::milliseconds(1);
  if (unit == "s") return std::chrono::seconds(1);
  if (unit == "m") return std::chrono::minutes(1);
  if (unit == "h") return std::chrono::hours(1);
  return std::nullopt;
}

/// One number with its unit: "30m", "1.5s". Digits that count less than a nanosecond are dropped.
struct TimePart {
  std::string_view whole;
  std::string_view fraction;
  nanoseconds unit;

  /// nullopt: longer than kMaxTimeSpan.
  std::optional<nanoseconds> span() const {
    const std::optional<std::uint64_t> number = digits_value(whole);
    if (!number || *number > static_cast<std::uint64_t>(kMaxTimeSpan / unit)) return std::nullopt;
    nanoseconds sum = unit * static_cast<nanoseconds::rep>(*number);
    nanoseconds digit_value = unit;
    for (const char digit : fraction) sum += (digit_value /= 10) * (digit - '0');
    return sum;
  }
};

/// Takes the first part off `text`; nullopt when it begins with none. Without a unit it is seconds, if nothing follows.
std::optional<TimePart> take_time_part(std::string_view& text) {
  const auto take = [&](auto wanted) {
    const auto end = std::find_if_not(text.begin(), text.end(), wanted);
    const std::string_view taken = text.substr(0, static_cast<std::size_t>(end - text.begin()));
    text.remove_prefix(taken.size());
    return taken;
  };
  TimePart part = {.whole = take(is_digit), .fraction = {}, .unit = std::chrono::seconds(1)};
  if (part.whole.empty()) return std::nullopt;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    part.fraction = take(is_digit);
    if (part.fraction.empty()) return std::nullopt;
  }
  if (text.empty()) return part;
  const std::optional<nanoseconds> unit = time_unit(take([](char c) { return !is_digit(c); }));
  if (!unit) return std::nullopt;
  part.unit = *unit;
  return part;
}

/// Of "1h30m", its two. Empty: `text` is no time span. Only the last may have no unit, and only if it is the only one.
std::vector<TimePart> time_parts(std::string_view text) {
  std::vector<TimePart> parts;
  const bool has_units = !text.empty() && !is_digit(text.back());
  while (!text.empty()) {
    const std::optional<TimePart> part = take_time_part(text);
    if (!part || (!has_units && !text.empty())) return {};
    parts.push_back(*part);
  }
  return parts;
}

std::string time_span_text(nanoseconds span) {
  if (span != nanoseconds(0) && span % std::chrono::hours(1) == nanoseconds(0)) {
    return fmt::format("{}h", span / std::chrono::hours(1));
  }
  if (span % std::chrono::seconds(1) == nanoseconds(0)) return fmt::format("{}s", span / std::chrono::seconds(1));
  return fmt::format("{}ms", span / std::chrono::milliseconds(1));
}

/// How far to shift for "k", "K", "KiB" and so on; nullopt for what is no unit of 1024.
std::optional<unsigned> size_shift(std::string_view unit) {
  if (unit.empty() || unit == "B") return 0;
  const std::size_t letter = std::string_view("kmgt").find(static_cast<char>(unit.front() | 0x20));
  const std::string_view rest = unit.substr(1);
  if (letter == std::string_view::npos || !(rest.empty() || rest == "iB")) return std::nullopt;
  return 10 * static_cast<unsigned>(letter + 1);
}

/// Typing errors between two words: letters to insert, remove or replace, and neighbours to swap (Damerau's distance in
/// its restricted form).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> errors(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) errors[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) errors[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = errors[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      errors[i][j] = std::min({replaced, errors[i - 1][j] + 1, errors[i][j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) errors[i][j] = std::min(errors[i][j], errors[i - 2][j - 2] + 1);
    }
  }
  return errors[a.size()][b.size()];
}

/// Whether `text` could be a program's name, as one that pidof takes.
bool looks_like_program_name(std::string_view text) {
  if (text.empty() || text.front() == '-' || is_digit(text.front())) return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '_' || c == '-';
  });
}

Result<int> parse_pid(OptionValue value, int own_pid) {
  const bool digits = all_digits(value.text);
  const std::optional<std::uint64_t> number = digits ? digits_value(value.text) : std::nullopt;
  if (!number || *number == 0 || *number > static_cast<std::uint64_t>(std::numeric_limits<int>::max())) {
    std::string hint = "give the id of a process, as ps and pidof print it";
    if (looks_like_program_name(value.text)) {
      hint = fmt::format("for a process by name: {} --name {}", value.command, value.text);
    }
    if (value.text.empty()) hint = "pidof and pgrep print nothing if no process has the name: is the service running?";
    return refuse(value, "is not a process id", std::move(hint));
  }
  if (*number == static_cast<std::uint64_t>(own_pid)) {
    return refuse(value, "is hawktrace itself", "give the id of another process");
  }
  return static_cast<int>(*number);
}

}  // namespace

Result<std::uint64_t> parse_number(OptionValue value, std::uint64_t min, std::uint64_t max) {
  if (is_negative_number(value.text)) return too_small(value, std::to_string(min));
  if (!all_digits(value.text)) {
    return refuse(value, "is not a whole number", fmt::format("give a number from {} to {}", min, max));
  }
  const std::optional<std::uint64_t> number = digits_value(value.text);
  if (!number || *number > max) return too_large(value, std::to_string(max));
  if (*number < min) return too_small(value, std::to_string(min));
  return *number;
}

Result<nanoseconds> parse_time_span(OptionValue value, nanoseconds min) {
  const bool negative = value.text.starts_with('-');
  const std::vector<TimePart> parts = time_parts(value.text.substr(negative ? 1 : 0));
  if (parts.empty()) {
    return refuse(value, "is not a time span",
                  "give seconds, or numbers with ms, s, m or h: 0.2, 10, 250ms, 1.5s, 1h30m");
  }
  if (negative) return too_small(value, time_span_text(min));
  nanoseconds sum{};
  for (const TimePart& part : parts) {
    const std::optional<nanoseconds> span = part.span();
    if (!span || *span > kMaxTimeSpan - sum) return too_large(value, time_span_text(kMaxTimeSpan));
    sum += *span;
  }
  if (sum < min) return too_small(value, time_span_text(min));
  return sum;
}

Result<std::uint64_t> parse_size_bytes(OptionValue value) {
  const bool negative = value.text.starts_with('-');
  const Quantity quantity = split_quantity(value.text.substr(negative ? 1 : 0));
  const std::optional<unsigned> shift = size_shift(quantity.unit);
  if (quantity.digits.empty() || !shift) {
    return refuse(value, "is not a size in bytes",
                  "give bytes (4096), or a whole number of KiB, MiB, GiB or TiB (short: k, M, G, T): 4k, 1MiB");
  }
  if (negative) return too_small(value, "0");
  const std::optional<std::uint64_t> number = digits_value(quantity.digits);
  if (!number || *number > (std::numeric_limits<std::uint64_t>::max() >> *shift)) return too_large(value, "16777215T");
  return *number << *shift;
}

Result<std::vector<int>> parse_pids(OptionValue value, int own_pid) {
  constexpr std::string_view kBetween = " \t\n,";
  std::vector<int> pids;
  std::string_view rest = value.text;
  do {
    rest.remove_prefix(std::min(rest.find_first_not_of(kBetween), rest.size()));
    const std::string_view word = rest.substr(0, rest.find_first_of(kBetween));
    // What separates nothing is a part of the value that is refused.
    pids.push_back(HAWK_TRY(parse_pid({value.option, word.empty() ? value.text : word, value.command}, own_pid)));
    rest.remove_prefix(word.size());
  } while (rest.find_first_not_of(kBetween) != rest.npos);
  return pids;
}

Result<int> parse_open_fd(OptionValue value) {
  constexpr int kFirst = 3;  // the standard streams are those below
  const std::uint64_t number = HAWK_TRY(parse_number(value, 0, std::numeric_limits<int>::max()));
  if (number < kFirst) {
    return refuse(value, "is a standard stream",
                  fmt::format("use another descriptor: hawktrace ... {} {}>FILE", kFirst, kFirst));
  }
  const int fd = static_cast<int>(number);
  if (::fcntl(fd, F_GETFD) < 0) {
    return refuse(value, "is not an open descriptor", fmt::format("open it in the shell: hawktrace ... {}>FILE", fd));
  }
  return fd;
}

Result<std::size_t> parse_choice(OptionValue value, std::span<const std::string_view> names) {
  if (value.choices != nullptr) value.choices->assign(names.begin(), names.end());
  const auto found = std::find(names.begin(), names.end(), value.text);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  const std::string_view nearest = nearest_name(value.text, names);
  return refuse(value, fmt::format("is not one of {}", fmt::join(names, ", ")),
                nearest.empty() ? fmt::format("{} --help explains them", value.command)
                                : fmt::format("did you mean '{}'?", nearest));
}

std::string_view nearest_name(std::string_view text, std::span<const std::string_view> names) {
  constexpr std::size_t kMostTypingErrors = 2;
  std::string_view nearest;
  std::size_t nearest_distance = kMostTypingErrors + 1;
  for (const std::string_view name : names) {
    const std::size_t distance = edit_distance(text, name);
    // A name of which hardly a letter is right is no suggestion.
    if (distance >= nearest_distance || 2 * distance >= name.size()) continue;
    nearest = name;
    nearest_distance = distance;
  }
  return nearest;
}

}  // namespace hawk
