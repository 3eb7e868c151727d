#pragma once

#include <cstdint>
#include <string>

#include "userspace/report/period.h"
#include "userspace/report/units.h"

namespace hawk {

/// The state that the screen shows, the one shown before, and how numbers are written.
struct Moment : Period {
  NumberStyle style = NumberStyle::kReadable;

  Moment(const Snapshot& current, const Snapshot* before, NumberStyle numbers)
      : Period(current, before), style(numbers) {}

  std::string bytes(std::uint64_t value) const { return format_bytes(value, style); }
  std::string count(std::uint64_t value) const { return format_count(value, style); }
  std::string blocks(std::uint64_t value) const { return format_blocks(value, style); }
};

}  // namespace hawk
