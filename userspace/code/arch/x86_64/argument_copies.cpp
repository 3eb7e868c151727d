#include "userspace/code/arch/x86_64/argument_copies.h"

#include <bit>
#include <cstddef>

namespace hawk {
namespace {

/// Which of the first three arguments the kernel programs read for a call of this kind; no function of the catalogue
/// has more.
std::array<bool, 3> arguments_read(hawk_call_kind kind) {
  switch (kind) {
    case HAWK_CALL_MALLOC:
    case HAWK_CALL_FREE:
    case HAWK_CALL_CONTROL:
      return {true, false, false};
    case HAWK_CALL_CALLOC:
    case HAWK_CALL_REALLOC:
    case HAWK_CALL_REALLOCF:
    case HAWK_CALL_EXPAND:
    case HAWK_CALL_CONTROL_BY_NUMBER:
      return {true, true, false};
    case HAWK_CALL_ALIGNED_ALLOC:
      return {false, true, false};
    case HAWK_CALL_POSIX_MEMALIGN:
      return {true, false, true};
    case HAWK_CALL_STRING:
    case HAWK_CALL_UNFOLLOWED:
      return {false, false, false};
    default:
      return {true, true, true};
  }
}

std::uint32_t copy_made(const Instruction& instruction, std::uint32_t holders) {
  for (std::size_t from = 0; from < kGeneralRegisters.size(); ++from) {
    if ((holders >> from & 1) == 0 || !instruction.is_register(1, kGeneralRegisters[from])) continue;
    for (std::size_t to = 0; to < kGeneralRegisters.size(); ++to) {
      if (instruction.is_register(0, kGeneralRegisters[to])) return 1u << to;
    }
  }
  return 0;
}

}  // namespace

ArgumentCopies::ArgumentCopies(hawk_call_kind kind, const ArgumentRegisters& passed_in)
    : read_(arguments_read(kind)), passed_in_(passed_in) {
  for (std::size_t i = 0; i < passed_in.size(); ++i) holders_[i] = 1u << passed_in[i];
}

void ArgumentCopies::step(const Instruction& instruction) {
  for (std::uint32_t& holders : holders_) {
    std::uint32_t left = holders;
    for (std::size_t number = 0; number < kGeneralRegisters.size(); ++number) {
      if (instruction.writes(kGeneralRegisters[number])) left &= ~(1u << number);
    }
    if (instruction.decoded.mnemonic == ZYDIS_MNEMONIC_MOV) left |= copy_made(instruction, holders);
    holders = left;
  }
}

bool ArgumentCopies::complete() const {
  for (std::size_t i = 0; i < read_.size(); ++i) {
    if (read_[i] && holders_[i] == 0) return false;
  }
  return true;
}

ArgumentRegisters ArgumentCopies::registers() const {
  ArgumentRegisters registers = passed_in_;
  for (std::size_t i = 0; i < registers.size(); ++i) {
    const bool moved = read_[i] && (holders_[i] >> registers[i] & 1) == 0;
    if (moved && holders_[i] != 0) registers[i] = static_cast<std::uint8_t>(std::countr_zero(holders_[i]));
  }
  return registers;
}

}  // namespace hawk
