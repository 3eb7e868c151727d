#pragma once

#include <elf.h>

#include <cstdint>

// Argument registers, pt_regs and the instruction decoder are those of x86-64. uname says no more than this: it
// answers for the personality (setarch) and under emulation.
#ifndef __x86_64__
#error "hawktrace runs on x86-64 only: see bpf/arch/x86_64/README.md for what another processor needs"
#endif

/// What ELF files say in numbers that belong to x86-64: System V ABI, AMD64 supplement, section 4.4.
namespace hawk::arch {

constexpr std::uint16_t kElfMachine = EM_X86_64;
/// Relocations that fill a slot of the global offset table with the address of a symbol.
constexpr std::uint32_t kJumpSlot = R_X86_64_JUMP_SLOT;
constexpr std::uint32_t kGlobDat = R_X86_64_GLOB_DAT;
/// The one that fills it with an address of the same file.
constexpr std::uint32_t kRelative = R_X86_64_RELATIVE;
/// The one that fills it with what a function of the file, called when the program starts, chooses.
constexpr std::uint32_t kChosen = R_X86_64_IRELATIVE;

}  // namespace hawk::arch
