#pragma once

#include <cstdint>

namespace hawk {

/// Where the frame of the caller begins.
struct CfaRule {
  enum class Kind : std::uint8_t {
    kMissing,
    kRegister,    ///< register + offset
    kLoaded,      ///< *(register + load_offset) + offset
    kPlt,         ///< register + offset, and more where the pc has passed the stub's push: load_offset is from where on
    kExpression,  ///< of no known shape
  };
  Kind kind = Kind::kMissing;
  std::uint64_t base = 0;  ///< the register's number
  std::int64_t offset = 0;
  std::int64_t load_offset = 0;
};

/// What is known of a register of the caller.
struct SavedRegister {
  enum class Rule : std::uint8_t {
    kUnchanged,   ///< not changed, or nothing was said
    kUndefined,   ///< lost
    kAtCfa,       ///< stored at CFA + offset
    kAtSp,        ///< stored at stack pointer + offset
    kAtFp,        ///< stored at frame pointer + offset
    kIsCfa,       ///< it is CFA + offset
    kRegister,    ///< in another register
    kExpression,  ///< by an expression of no known shape
  };
  Rule rule = Rule::kUnchanged;
  std::int64_t offset = 0;
  bool operator==(const SavedRegister&) const = default;
};

/// A row of the table that call frame instructions describe, as far as walking needs it.
struct FrameState {
  CfaRule cfa;
  SavedRegister frame_pointer;
  SavedRegister stack_pointer;
  SavedRegister return_address;
};

}  // namespace hawk
