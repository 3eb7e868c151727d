#include "userspace/code/arch/x86_64/return_thunk.h"

#include <algorithm>
#include <optional>

#include "userspace/code/arch/x86_64/stack_state.h"

namespace hawk {
namespace {

/// More than any thunk has before its `ret`: endbr64, and one that stores or skips.
constexpr int kMostInstructions = 4;
constexpr std::int64_t kWordBytes = 8;

bool overwrites_return(const Instruction& instruction, const StackState& before) {
  // Hidden operands, of push for one, are below.
  const auto operands = instruction.all_operands().first(instruction.decoded.operand_count_visible);
  return std::any_of(operands.begin(), operands.end(), [&](const ZydisDecodedOperand& operand) {
    if (!is_written_memory(operand)) return false;
    const std::int64_t start = stack_position(operand, before).value_or(kWordBytes), end = start + operand.size / 8;
    return start < kWordBytes && end > 0;
  });
}

}  // namespace

bool changes_return(const ElfImage& image, std::uint64_t vaddr) {
  StackState state;
  for (int i = 0; i < kMostInstructions; ++i) {
    const std::optional<Instruction> instruction = decode_at(image, vaddr);
    if (!instruction || instruction->flow != Flow::kNext) return false;
    if (overwrites_return(*instruction, state)) return true;
    state = after(*instruction, state);
    if (!state.rsp || *state.rsp > 0) return state.rsp.has_value();
    vaddr = instruction->next_vaddr();
  }
  return false;
}

}  // namespace hawk
