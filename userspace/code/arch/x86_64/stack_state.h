#pragma once

#include <cstdint>
#include <optional>

#include "userspace/code/arch/x86_64/instruction.h"
#include "userspace/code/caller_frame.h"

namespace hawk {

/// What is known about the stack at one instruction, however it was reached. Positions on the stack are bytes relative
/// to rsp at the function's entry, where the return address lies at 0.
struct StackState {
  std::optional<std::int64_t> rsp = 0;
  std::optional<std::int64_t> rbp;              ///< when rbp points into this function's frame
  std::optional<std::int64_t> saved_rbp;        ///< where the caller's rbp lies
  bool rbp_changed = false;                     ///< rbp may no longer hold the caller's value
  bool argument_intact = true;                  ///< rdi holds the first argument
  bool argument_tested = false;                 ///< the instruction before was `test rdi, rdi` of that argument
  std::optional<std::uint32_t> first_constant;  ///< which rdi holds, to be passed on
  bool operator==(const StackState&) const = default;

  /// push rbp; mov rbp, rsp has been done: a frame-pointer walk finds the caller.
  bool has_frame_pointer() const { return rbp && saved_rbp && *rbp == *saved_rbp && *rbp == -8; }
};

/// The stack position that a memory operand [rsp + n] or [rbp + n] stands for; nullopt: not known, or another operand.
std::optional<std::int64_t> stack_position(const ZydisDecodedOperand& operand, const StackState& state);
/// Words from rsp up to a position; nullopt: not known, not a whole number, or more than `most`.
std::optional<std::uint32_t> words_up(const StackState& state, std::int64_t position, std::uint32_t most);
/// Where the caller's frame is; nullopt: not known, or further than `most` words from rsp.
std::optional<CallerFrame> caller_frame(const StackState& state, std::uint32_t most);
/// The state after `instruction`; after a call: once it has returned.
StackState after(const Instruction& instruction, const StackState& before);
/// What holds on both ways to one instruction.
StackState merge(const StackState& a, const StackState& b);

}  // namespace hawk
