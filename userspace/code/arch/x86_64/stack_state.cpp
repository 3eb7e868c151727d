#include "userspace/code/arch/x86_64/stack_state.h"

namespace hawk {

using Position = std::optional<std::int64_t>;

namespace {

Position moved(const Position& position, std::int64_t bytes) {
  return position ? Position(*position + bytes) : std::nullopt;
}

void set_rbp(StackState& state, const Position& position) {
  state.rbp = position;
  state.rbp_changed = true;
}

void restore_rbp(StackState& state) {
  state.rbp.reset();
  state.saved_rbp.reset();
  state.rbp_changed = false;
}

void load_rbp(StackState& state, const Position& from) {
  if (from && from == state.saved_rbp) {
    restore_rbp(state);
  } else {
    set_rbp(state, std::nullopt);
  }
}

void push(const Instruction& instruction, StackState& state) {
  state.rsp = instruction.decoded.operand_width == 64 ? moved(state.rsp, -8) : std::nullopt;
  if (instruction.is_register(0, ZYDIS_REGISTER_RBP) && !state.rbp_changed) state.saved_rbp = state.rsp;
}

void pop(const Instruction& instruction, StackState& state) {
  if (instruction.decoded.operand_width != 64 || instruction.is_register(0, ZYDIS_REGISTER_RSP)) {
    state.rsp.reset();
    return;
  }
  if (instruction.is_register(0, ZYDIS_REGISTER_RBP)) load_rbp(state, state.rsp);
  state.rsp = moved(state.rsp, 8);
}

void leave(StackState& state) {
  const Position frame = state.rbp;
  load_rbp(state, frame);
  state.rsp = moved(frame, 8);
}

/// add, sub, lea and mov as far as they concern rsp, rbp or the slot of the saved rbp. False: something else.
bool move_or_adjust(const Instruction& instruction, StackState& state) {
  const ZydisDecodedOperand& source = instruction.operands[1];
  const bool to_rsp = instruction.is_register(0, ZYDIS_REGISTER_RSP);
  const bool to_rbp = instruction.is_register(0, ZYDIS_REGISTER_RBP);
  switch (instruction.decoded.mnemonic) {
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB: {
      if (!to_rsp || source.type != ZYDIS_OPERAND_TYPE_IMMEDIATE) return false;
      const std::int64_t bytes = source.imm.value.s;
      state.rsp = moved(state.rsp, instruction.decoded.mnemonic == ZYDIS_MNEMONIC_ADD ? bytes : -bytes);
      return true;
    }
    case ZYDIS_MNEMONIC_LEA:
      if (to_rsp) state.rsp = stack_position(source, state);
      if (to_rbp) set_rbp(state, stack_position(source, state));
      return to_rsp || to_rbp;
    case ZYDIS_MNEMONIC_MOV:
      if (to_rsp && instruction.is_register(1, ZYDIS_REGISTER_RBP)) {
        state.rsp = state.rbp;
        return true;
      }
      if (to_rbp && instruction.is_register(1, ZYDIS_REGISTER_RSP)) {
        set_rbp(state, state.rsp);
        return true;
      }
      if (to_rbp && source.type == ZYDIS_OPERAND_TYPE_MEMORY) {
        load_rbp(state, stack_position(source, state));
        return true;
      }
      if (instruction.is_register(1, ZYDIS_REGISTER_RBP) && !state.rbp_changed) {
        if (const Position slot = stack_position(instruction.operands[0], state)) state.saved_rbp = slot;
      }
      return false;
    default:
      return false;
  }
}

void change_stack(const Instruction& instruction, StackState& state) {
  switch (instruction.decoded.mnemonic) {
    case ZYDIS_MNEMONIC_PUSH:
      return push(instruction, state);
    case ZYDIS_MNEMONIC_POP:
      return pop(instruction, state);
    case ZYDIS_MNEMONIC_LEAVE:
      return leave(state);
    case ZYDIS_MNEMONIC_CALL:
      return;
    default:
      break;
  }
  if (move_or_adjust(instruction, state)) return;
  if (instruction.writes(ZYDIS_REGISTER_RSP)) state.rsp.reset();
  if (instruction.writes(ZYDIS_REGISTER_RBP)) set_rbp(state, std::nullopt);
}

/// What the instruction loads into edi.
std::optional<std::uint32_t> loaded_constant(const Instruction& instruction) {
  if (!instruction.is_register(0, ZYDIS_REGISTER_EDI)) return std::nullopt;
  const ZydisDecodedOperand& source = instruction.operands[1];
  if (instruction.decoded.mnemonic == ZYDIS_MNEMONIC_XOR && instruction.is_register(1, ZYDIS_REGISTER_EDI)) return 0;
  const bool is_load =
      instruction.decoded.mnemonic == ZYDIS_MNEMONIC_MOV && source.type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
  return is_load ? std::optional(static_cast<std::uint32_t>(source.imm.value.u)) : std::nullopt;
}

}  // namespace

Position stack_position(const ZydisDecodedOperand& operand, const StackState& state) {
  if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY || operand.mem.index != ZYDIS_REGISTER_NONE) return std::nullopt;
  Position base;
  if (operand.mem.base == ZYDIS_REGISTER_RSP) base = state.rsp;
  if (operand.mem.base == ZYDIS_REGISTER_RBP) base = state.rbp;
  if (!base) return std::nullopt;
  return *base + (operand.mem.disp.has_displacement != 0 ? operand.mem.disp.value : 0);
}

std::optional<std::uint32_t> words_up(const StackState& state, std::int64_t position, std::uint32_t most) {
  constexpr std::int64_t kWordBytes = 8;
  if (!state.rsp) return std::nullopt;
  const std::int64_t bytes = position - *state.rsp;
  if (bytes < 0 || bytes % kWordBytes != 0 || bytes / kWordBytes > most) return std::nullopt;
  return static_cast<std::uint32_t>(bytes / kWordBytes);
}

std::optional<CallerFrame> caller_frame(const StackState& state, std::uint32_t most) {
  const std::optional<std::uint32_t> slot = words_up(state, 0, most);
  if (!slot || (state.rbp_changed && !state.saved_rbp)) return std::nullopt;
  CallerFrame frame = {.slot_words = *slot, .saved_rbp_words = std::nullopt};
  if (!state.rbp_changed) return frame;
  frame.saved_rbp_words = words_up(state, *state.saved_rbp, most);
  return frame.saved_rbp_words ? std::optional(frame) : std::nullopt;
}

StackState after(const Instruction& instruction, const StackState& before) {
  StackState state = before;
  change_stack(instruction, state);
  // Below rsp nothing is safe.
  if (state.rsp && state.saved_rbp && *state.saved_rbp < *state.rsp) state.saved_rbp.reset();
  const bool is_call = instruction.flow == Flow::kCall || instruction.flow == Flow::kIndirectCall;
  if (is_call || instruction.writes(ZYDIS_REGISTER_RDI)) state.argument_intact = false;
  if (is_call || instruction.writes(ZYDIS_REGISTER_RDI)) state.first_constant = loaded_constant(instruction);
  state.argument_tested = state.argument_intact && instruction.decoded.mnemonic == ZYDIS_MNEMONIC_TEST &&
                          instruction.is_register(0, ZYDIS_REGISTER_RDI) &&
                          instruction.is_register(1, ZYDIS_REGISTER_RDI);
  return state;
}

StackState merge(const StackState& a, const StackState& b) {
  StackState both = a;
  if (a.rsp != b.rsp) both.rsp.reset();
  if (a.rbp != b.rbp) both.rbp.reset();
  if (a.saved_rbp != b.saved_rbp) both.saved_rbp.reset();
  both.rbp_changed = a.rbp_changed || b.rbp_changed;
  both.argument_intact = a.argument_intact && b.argument_intact;
  both.argument_tested = a.argument_tested && b.argument_tested;
  if (a.first_constant != b.first_constant) both.first_constant.reset();
  return both;
}

}  // namespace hawk
