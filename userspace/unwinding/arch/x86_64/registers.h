#pragma once

#include <array>
#include <cstdint>

/// What call frame information says in numbers that belong to x86-64: System V ABI, AMD64 supplement, figure 3.36 and
/// section 3.7; the kernel's signal frame, arch/x86/include/uapi/asm/sigcontext.h. Another processor is another such
/// file.
namespace hawk::arch {

/// Numbers of registers.
constexpr std::uint64_t kFramePointer = 6;
constexpr std::uint64_t kStackPointer = 7;
constexpr std::uint64_t kReturnAddress = 16;  ///< no register: the column that stands for the return address

constexpr std::array<const char*, 17> kRegisterNames = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8",
                                                        "r9",  "r10", "r11", "r12", "r13", "r14", "r15", "rip"};

constexpr std::uint64_t kAddressBytes = 8;
/// Where a call leaves the return address.
constexpr std::int64_t kReturnAddressAtCfa = -8;
/// And where a function that keeps a frame pointer leaves its caller's.
constexpr std::int64_t kFramePointerAtCfa = -16;

/// Linkers describe the stubs of the procedure linkage table by one expression for all of them: the CFA is 8 bytes
/// (1 << 3) further away once the stub has pushed, which depends on the lowest 4 bits of the pc. Only from where on
/// differs: 11, or 10 with endbr64.
constexpr std::uint8_t kPltAddressMask = 15;
constexpr std::uint8_t kPltShift = 3;

/// Where the kernel's signal frame has the registers, from the stack pointer in the trampoline on: rt_sigframe without
/// the return address, then ucontext.uc_mcontext at 40.
constexpr std::int64_t kSignalFramePointer = 120;
constexpr std::int64_t kSignalStackPointer = 160;
constexpr std::int64_t kSignalReturnAddress = 168;

}  // namespace hawk::arch
