#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "bpf/losses.h"

namespace hawk {

/// What a report promises, each apart from the others.
enum class Promise {
  kNumbers,   ///< every byte and block of the target is counted
  kStacks,    ///< each of them on its whole stack
  kChildren,  ///< no process that the target started is left out
};

/// How often each cause of loss occurred.
struct Losses {
  std::array<std::uint64_t, HAWK_LOSS_COUNT> counts{};

  std::uint64_t& operator[](hawk_loss cause) { return counts[cause]; }
  std::uint64_t operator[](hawk_loss cause) const { return counts[cause]; }
  /// Sum over all causes.
  std::uint64_t total() const;
  /// Whether no cause occurred that breaks `promise`.
  bool keep(Promise promise) const;
  bool operator==(const Losses&) const = default;
};

/// Name of a cause in JSON and its sentence for people.
struct LossText {
  std::string_view json_name;
  Promise promise;            ///< that the cause breaks
  std::string_view sentence;  ///< with {singular|plural} where it depends on the number: see worded_for
};

/// One text per cause, in the order of `enum hawk_loss`.
std::span<const LossText, HAWK_LOSS_COUNT> loss_texts();

/// What to do about a program in which no allocator was found. `is_go`: see TargetInfo.
std::string_view no_allocator_hint(bool is_go);

}  // namespace hawk
