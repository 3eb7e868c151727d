#include "userspace/code/arch/x86_64/instruction.h"

#include <span>

namespace hawk {
namespace {

ZydisDecoder make_decoder() {
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  return decoder;
}

void set_transfer(Instruction& instruction, Flow direct, Flow indirect) {
  const ZydisDecodedOperand& operand = instruction.operands[0];
  if (operand.type != ZYDIS_OPERAND_TYPE_IMMEDIATE) {
    instruction.flow = indirect;
    ZyanU64 slot = 0;
    const bool relative_to_rip = operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.base == ZYDIS_REGISTER_RIP;
    if (relative_to_rip &&
        ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&instruction.decoded, &operand, instruction.vaddr, &slot))) {
      instruction.got_slot = slot;
    }
    return;
  }
  ZyanU64 target = 0;
  if (!ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&instruction.decoded, &operand, instruction.vaddr, &target))) {
    instruction.flow = Flow::kEnd;
    return;
  }
  instruction.flow = direct;
  instruction.target = target;
}

void set_flow(Instruction& instruction) {
  const bool is_far = instruction.decoded.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR;
  switch (instruction.decoded.meta.category) {
    case ZYDIS_CATEGORY_CALL:
      if (is_far) {
        instruction.flow = Flow::kFar;
      } else {
        set_transfer(instruction, Flow::kCall, Flow::kIndirectCall);
      }
      return;
    case ZYDIS_CATEGORY_UNCOND_BR:
      if (is_far) {
        instruction.flow = Flow::kFar;
      } else {
        set_transfer(instruction, Flow::kJump, Flow::kIndirectJump);
      }
      return;
    case ZYDIS_CATEGORY_COND_BR:
      set_transfer(instruction, Flow::kBranch, Flow::kFar);
      return;
    case ZYDIS_CATEGORY_RET:
      instruction.flow = instruction.decoded.mnemonic == ZYDIS_MNEMONIC_RET && !is_far ? Flow::kReturn : Flow::kFar;
      return;
    default:
      break;
  }
  switch (instruction.decoded.mnemonic) {
    case ZYDIS_MNEMONIC_HLT:
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
      instruction.flow = Flow::kEnd;
      return;
    default:
      return;
  }
}

}  // namespace

std::optional<std::size_t> wide_register_number(const ZydisDecodedOperand& operand) {
  if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER || operand.size < 32) return std::nullopt;
  const ZydisRegister wide = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, operand.reg.value);
  for (std::size_t number = 0; number < kGeneralRegisters.size(); ++number) {
    if (kGeneralRegisters[number] == wide) return number;
  }
  return std::nullopt;
}

std::string Instruction::mnemonic() const {
  const char* text = ZydisMnemonicGetString(decoded.mnemonic);
  return text == nullptr ? std::string() : std::string(text);
}

bool Instruction::writes(ZydisRegister wide_register) const {
  for (const ZydisDecodedOperand& operand : all_operands()) {
    if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER) continue;
    if ((operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) == 0) continue;
    if (ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, operand.reg.value) == wide_register) return true;
  }
  return false;
}

bool is_written_memory(const ZydisDecodedOperand& operand) {
  return operand.type == ZYDIS_OPERAND_TYPE_MEMORY && (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
}

bool Instruction::writes_memory() const {
  const auto all = all_operands();
  return std::any_of(all.begin(), all.end(), is_written_memory);
}

bool Instruction::is_register(std::size_t operand, ZydisRegister wanted) const {
  return operand < decoded.operand_count && operands[operand].type == ZYDIS_OPERAND_TYPE_REGISTER &&
         operands[operand].reg.value == wanted;
}

Execution Instruction::execution() const {
  for (ZyanU8 i = 0; i < decoded.raw.prefix_count; ++i) {
    const bool is_rex = decoded.raw.prefixes[i].value >= 0x40 && decoded.raw.prefixes[i].value <= 0x4f;
    if (!is_rex) return Execution::kStepped;
  }
  const ZyanU8 opcode = decoded.opcode;
  const bool one_byte_opcode = decoded.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT;
  const bool is_push = one_byte_opcode && opcode >= 0x50 && opcode <= 0x57;
  if (is_push) return is_register(0, ZYDIS_REGISTER_RSP) ? Execution::kStepped : Execution::kPushed;
  // What follows is emulated without regard to REX, which compilers never put there.
  if (decoded.raw.prefix_count != 0) return Execution::kStepped;
  const bool is_near_branch = decoded.opcode_map == ZYDIS_OPCODE_MAP_0F && opcode >= 0x80 && opcode <= 0x8f;
  const bool is_jump = one_byte_opcode && (opcode == 0xe9 || opcode == 0xeb || (opcode >= 0x70 && opcode <= 0x7f));
  const bool is_nop = one_byte_opcode && opcode == 0x90;
  if (is_near_branch || is_jump || is_nop) return Execution::kJumped;
  return one_byte_opcode && opcode == 0xe8 ? Execution::kPushed : Execution::kStepped;
}

std::optional<Instruction> decode_at(const ElfImage& image, std::uint64_t vaddr) {
  static const ZydisDecoder decoder = make_decoder();
  const std::span<const std::uint8_t> code = image.code_at(vaddr, ZYDIS_MAX_INSTRUCTION_LENGTH);
  Instruction instruction;
  instruction.vaddr = vaddr;
  const ZyanStatus status =
      ZydisDecoderDecodeFull(&decoder, code.data(), code.size(), &instruction.decoded, instruction.operands.data());
  if (code.empty() || !ZYAN_SUCCESS(status)) return std::nullopt;
  set_flow(instruction);
  return instruction;
}

}  // namespace hawk
