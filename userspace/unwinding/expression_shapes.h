#pragma once

#include <cstdint>
#include <span>

#include "userspace/unwinding/frame_state.h"

namespace hawk {

/// Expressions are known by their shape, never evaluated: compilers and linkers write only few.
///
/// Of the CFA:   breg r, n                                     r + n
///               breg r, n; deref [; plus_uconst m]            *(r + n) + m: a frame that GCC has realigned
///               breg r, n; breg rip, 0; lit15; and; lit t; ge; lit3; shl; plus     the linker's stubs
CfaRule cfa_by_expression(std::span<const std::uint8_t> expression);

/// Of the address where a register is stored: breg r, n, where r is the stack pointer or the frame pointer.
SavedRegister rule_by_expression(std::span<const std::uint8_t> expression);

}  // namespace hawk
