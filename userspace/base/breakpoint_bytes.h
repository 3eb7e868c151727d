#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace hawk {

/// What the kernel places at a probe (UPROBE_SWBP_INSN, arch/x86/include/asm/uprobes.h): int3.
inline constexpr std::uint8_t kBreakpoint = 0xcc;

/// Whether code in memory is that of its file, but for breakpoints. `memory` is at least as long.
inline bool is_same_code(std::span<const std::uint8_t> file, std::span<const std::uint8_t> memory) {
  return std::equal(file.begin(), file.end(), memory.begin(),
                    [](std::uint8_t a, std::uint8_t b) { return (a == b) | (b == kBreakpoint); });
}

}  // namespace hawk
