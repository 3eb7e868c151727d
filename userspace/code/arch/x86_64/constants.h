#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "userspace/code/arch/x86_64/instruction.h"

namespace hawk {

/// Which general registers hold which constants at one instruction, however it is reached.
struct Constants {
  std::array<std::optional<std::uint64_t>, kGeneralRegisters.size()> registers;
  std::optional<bool> is_zero;  ///< the zero flag
  bool operator==(const Constants&) const = default;
};

/// What holds on both ways to one instruction.
Constants merge(const Constants& a, const Constants& b);
/// What holds after `instruction`; after a call: once it has returned.
Constants after(const Instruction& instruction, const Constants& before);
/// Whether a branch is taken; nullopt: that is not known.
std::optional<bool> is_taken(const Instruction& branch, const Constants& constants);

}  // namespace hawk
