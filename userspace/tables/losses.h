#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "bpf/losses.h"

namespace hawk {

/// How often each cause of loss occurred. A run is exact when all are zero.
struct Losses {
  std::array<std::uint64_t, HAWK_LOSS_COUNT> counts{};

  std::uint64_t& operator[](hawk_loss cause) { return counts[cause]; }
  std::uint64_t operator[](hawk_loss cause) const { return counts[cause]; }
  /// Sum over all causes.
  std::uint64_t total() const;
  bool operator==(const Losses&) const = default;
};

/// Name of a cause in JSON and its sentence for people.
struct LossText {
  std::string_view json_name;
  std::string_view sentence;
};

/// One text per cause, in the order of `enum hawk_loss`.
std::span<const LossText, HAWK_LOSS_COUNT> loss_texts();

}  // namespace hawk
