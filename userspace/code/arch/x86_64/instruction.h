#pragma once

#include <Zydis/Zydis.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "userspace/elf/elf_image.h"

namespace hawk {

/// The general registers, by the numbers that instructions encode them with.
inline constexpr std::array kGeneralRegisters = {
    ZYDIS_REGISTER_RAX, ZYDIS_REGISTER_RCX, ZYDIS_REGISTER_RDX, ZYDIS_REGISTER_RBX,
    ZYDIS_REGISTER_RSP, ZYDIS_REGISTER_RBP, ZYDIS_REGISTER_RSI, ZYDIS_REGISTER_RDI,
    ZYDIS_REGISTER_R8,  ZYDIS_REGISTER_R9,  ZYDIS_REGISTER_R10, ZYDIS_REGISTER_R11,
    ZYDIS_REGISTER_R12, ZYDIS_REGISTER_R13, ZYDIS_REGISTER_R14, ZYDIS_REGISTER_R15,
};

/// The number of the general register that an operand of 32 or 64 bits is; nullopt: it is none.
std::optional<std::size_t> wide_register_number(const ZydisDecodedOperand& operand);

/// Whether it is memory that the instruction writes to.
bool is_written_memory(const ZydisDecodedOperand& operand);

/// Where control goes after an instruction.
enum class Flow {
  kNext,
  kJump,          ///< to `target`
  kBranch,        ///< to `target` or on
  kCall,          ///< of `target`, then on
  kIndirectJump,  ///< to an address in a register or in memory
  kIndirectCall,
  kReturn,
  kFar,  ///< to where cannot be known
  kEnd,  ///< nowhere: ud2, hlt. A handler of int3 or `int n` returns: they are like any other instruction
};

/// How the kernel executes an instruction that a uprobe lies on, the cheapest way first.
enum class Execution {
  /// One-byte nop, direct jmp and jcc: by setting rip.
  kJumped,
  /// Push of a 64-bit register and direct call: by a store to the process's stack as well, which takes some 50 ns.
  kPushed,
  /// The real one, in a slot apart, between two traps: three to thirteen times as dear.
  kStepped,
};

/// One decoded x86-64 instruction of a file.
struct Instruction {
  std::uint64_t vaddr = 0;
  Flow flow = Flow::kNext;
  std::optional<std::uint64_t> target;    ///< of a direct jump, branch or call
  std::optional<std::uint64_t> got_slot;  ///< of a jump or call through memory at an address relative to rip
  ZydisDecodedInstruction decoded = {};
  std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands = {};

  std::uint64_t next_vaddr() const { return vaddr + decoded.length; }
  /// Lower case, as Zydis spells it: "push", "jz".
  std::string mnemonic() const;
  /// Whether it changes any part of a 64-bit register, hidden effects included.
  bool writes(ZydisRegister wide_register) const;
  /// Whether it writes to memory, hidden effects included.
  bool writes_memory() const;
  /// Those that are hidden included.
  std::span<const ZydisDecodedOperand> all_operands() const { return std::span(operands).first(decoded.operand_count); }
  bool is_register(std::size_t operand, ZydisRegister wanted) const;
  /// Without prefixes but REX. Source: arch/x86/kernel/uprobes.c, branch_setup_xol_ops() and push_setup_xol_ops().
  /// push rsp counts as stepped: the emulation has to store the old value, which older kernels do not promise.
  Execution execution() const;
  bool is_emulated_by_kernel() const { return execution() != Execution::kStepped; }
};

/// nullopt where there is no code or no valid instruction.
std::optional<Instruction> decode_at(const ElfImage& image, std::uint64_t vaddr);

}  // namespace hawk
