#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "userspace/base/option_values.h"
#include "userspace/base/result.h"

namespace hawk {

/// One of `choices`, by the name that it has everywhere.
template <class Enum, std::size_t N>
Result<void> set_named(Enum& target, OptionValue value, const std::array<Enum, N>& choices,
                       std::string_view (*name_of)(Enum)) {
  std::array<std::string_view, N> names;
  std::transform(choices.begin(), choices.end(), names.begin(), name_of);
  target = choices[HAWK_TRY(parse_choice(value, names))];
  return {};
}

/// The same, or "auto", which leaves it open.
template <class Enum, std::size_t N>
Result<void> set_choice_or_auto(std::optional<Enum>& target, OptionValue value, const std::array<Enum, N>& choices,
                                std::string_view (*name_of)(Enum)) {
  std::array<std::string_view, N + 1> names{"auto"};
  std::transform(choices.begin(), choices.end(), names.begin() + 1, name_of);
  const std::size_t choice = HAWK_TRY(parse_choice(value, names));
  if (choice == 0) {
    target.reset();
  } else {
    target = choices[choice - 1];
  }
  return {};
}

/// The enumerator that stands where the value stands in `names`.
template <class Enum>
Result<void> set_choice(Enum& target, OptionValue value, std::span<const std::string_view> names) {
  target = static_cast<Enum>(HAWK_TRY(parse_choice(value, names)));
  return {};
}

/// A whole number.
template <class Number>
Result<void> set_number(Number& target, OptionValue value, std::uint64_t min, std::uint64_t max) {
  target = static_cast<std::uint32_t>(HAWK_TRY(parse_number(value, min, max)));
  return {};
}

/// A time span of at least `min`.
template <class Span>
Result<void> set_time_span(Span& target, OptionValue value, std::chrono::nanoseconds min) {
  target = HAWK_TRY(parse_time_span(value, min));
  return {};
}

/// Bytes.
template <class Size>
Result<void> set_size(Size& target, OptionValue value) {
  target = HAWK_TRY(parse_size_bytes(value));
  return {};
}

/// For an option without a value.
inline auto turn_on(bool& target) {
  return [&target](OptionValue) -> Result<void> {
    target = true;
    return {};
  };
}

}  // namespace hawk
