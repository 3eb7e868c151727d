#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace hawk {

/// What call frame information can say that no rule says, or that makes no sense.
enum class Unsupported : std::uint8_t {
  kNothing,
  // In rows.
  kCfaMissing,
  kCfaExpression,
  kReturnAddressMissing,
  kReturnAddressInRegister,
  kReturnAddressExpression,
  kReturnAddressRule,
  kReturnAddressColumn,
  kStackPointer,
  kFramePointer,
  kSignalFrame,
  kLargeOffset,
  kTooManyRules,
  kTooManyRows,
  kTooManyStates,
  kUnknownInstruction,
  kDamagedInstructions,
  // In whole functions.
  kAugmentation,
  kVersion,
  kAddressSize,
  kPointerEncoding,
  kDamagedRecord,
  kTooManyRecords,
  kFarAway,
  // In rows again: CFA from a register that is not followed; its number is added.
  kCfaRegister,
};

/// How often each came.
class UnsupportedCounts {
 public:
  void add(Unsupported what) { ++counts_[static_cast<std::size_t>(what)]; }
  /// The CFA counts from this register.
  void add_cfa_register(std::uint64_t number);
  /// In the words of UnwindTable::unsupported.
  std::map<std::string, std::uint64_t> by_name() const;

 private:
  /// The registers that have a name, then all others.
  static constexpr std::size_t kRegisters = 18;
  std::array<std::uint64_t, static_cast<std::size_t>(Unsupported::kCfaRegister) + kRegisters> counts_ = {};
};

}  // namespace hawk
