#include "userspace/code/arch/x86_64/constants.h"

namespace hawk {
namespace {

/// rbx, rbp, r12 to r15.
constexpr std::uint32_t kPreserved = 1u << 3 | 1u << 5 | 0xf000u;

std::uint64_t cut(std::uint64_t value, const ZydisDecodedOperand& to) {
  return to.size == 32 ? static_cast<std::uint32_t>(value) : value;
}

std::optional<std::uint64_t> value_of(const ZydisDecodedOperand& operand, const Constants& constants) {
  if (operand.type == ZYDIS_OPERAND_TYPE_IMMEDIATE) return operand.imm.value.u;
  const std::optional<std::size_t> number = wide_register_number(operand);
  if (!number || !constants.registers[*number]) return std::nullopt;
  return cut(*constants.registers[*number], operand);
}

bool changes_zero_flag(const Instruction& instruction) {
  const ZydisAccessedFlags* flags = instruction.decoded.cpu_flags;
  if (instruction.decoded.mnemonic == ZYDIS_MNEMONIC_CALL) return true;
  if (flags == nullptr) return false;
  return ((flags->modified | flags->set_0 | flags->set_1 | flags->undefined) & ZYDIS_CPUFLAG_ZF) != 0;
}

}  // namespace

Constants merge(const Constants& a, const Constants& b) {
  Constants both = a;
  for (std::size_t i = 0; i < both.registers.size(); ++i) {
    if (a.registers[i] != b.registers[i]) both.registers[i].reset();
  }
  if (a.is_zero != b.is_zero) both.is_zero.reset();
  return both;
}

Constants after(const Instruction& instruction, const Constants& before) {
  Constants state = before;
  const bool is_call = instruction.flow == Flow::kCall || instruction.flow == Flow::kIndirectCall;
  for (std::size_t number = 0; number < kGeneralRegisters.size(); ++number) {
    const bool is_lost = is_call ? (kPreserved >> number & 1) == 0 : instruction.writes(kGeneralRegisters[number]);
    if (is_lost) state.registers[number].reset();
  }
  if (changes_zero_flag(instruction)) state.is_zero.reset();
  const ZydisDecodedOperand &to = instruction.operands[0], &from = instruction.operands[1];
  const auto left = value_of(to, before), right = value_of(from, before);
  const std::optional<std::size_t> target = wide_register_number(to);
  const auto set = [&](std::uint64_t value) {
    state.registers[*target] = cut(value, to);
    state.is_zero = cut(value, to) == 0;
  };
  switch (instruction.decoded.mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
      if (target && right) state.registers[*target] = cut(*right, to);
      break;
    case ZYDIS_MNEMONIC_XOR:
      if (target && wide_register_number(from) == target) set(0);
      break;
    case ZYDIS_MNEMONIC_AND:
      if (target && left && right) set(*left & *right);
      break;
    case ZYDIS_MNEMONIC_TEST:
      if (target && left && right) state.is_zero = cut(*left & *right, to) == 0;
      break;
    case ZYDIS_MNEMONIC_CMP:
      if (target && left && right) state.is_zero = cut(*left, to) == cut(*right, to);
      break;
    default:
      break;
  }
  return state;
}

std::optional<bool> is_taken(const Instruction& branch, const Constants& constants) {
  if (!constants.is_zero) return std::nullopt;
  if (branch.decoded.mnemonic == ZYDIS_MNEMONIC_JZ) return *constants.is_zero;
  if (branch.decoded.mnemonic == ZYDIS_MNEMONIC_JNZ) return !*constants.is_zero;
  return std::nullopt;
}

}  // namespace hawk
