#include "userspace/code/arch/x86_64/call_operands.h"

#include <bit>

namespace hawk {
namespace {

constexpr std::uint32_t kRsp = 1u << 4;

}  // namespace

Meaning meaning_of(hawk_call_kind kind) {
  switch (kind) {
    case HAWK_CALL_MALLOC:
      return {.size = 0, .factor = {}, .block = {}};
    case HAWK_CALL_CALLOC:
      return {.size = 0, .factor = 1, .block = {}};
    case HAWK_CALL_ALIGNED_ALLOC:
      return {.size = 1, .factor = {}, .block = {}};
    case HAWK_CALL_REALLOC:
    case HAWK_CALL_REALLOCF:
      return {.size = 1, .factor = {}, .block = 0};
    case HAWK_CALL_REALLOCARRAY:
      return {.size = 1, .factor = 2, .block = 0};
    case HAWK_CALL_POSIX_MEMALIGN:
      return {.size = 2, .factor = {}, .block = 0};
    default:
      return {};
  }
}

std::array<std::optional<std::uint8_t>, 3> passed_in(const SeenFunction& function) {
  const Meaning meaning = meaning_of(function.kind);
  const auto holder = [&](std::optional<std::size_t> argument) {
    return argument ? std::optional(function.arguments[*argument]) : std::nullopt;
  };
  return {holder(meaning.size), holder(meaning.factor), holder(meaning.block)};
}

bool must_open_at_entry(hawk_call_kind kind) {
  return (kind >= HAWK_CALL_REALLOC && kind <= HAWK_CALL_REALLOCARRAY) || kind == HAWK_CALL_POSIX_MEMALIGN;
}

bool returns_block(hawk_call_kind kind) { return kind != HAWK_CALL_POSIX_MEMALIGN && kind != HAWK_CALL_XALLOCX; }

std::optional<Operand> operand_of(const Holders& holders, const StackState& stack) {
  if (const std::uint32_t registers = holders.registers & ~kRsp) {
    return Operand{Operand::Kind::kRegister, static_cast<std::uint32_t>(std::countr_zero(registers))};
  }
  for (const std::int64_t word : holders.words) {
    if (const auto up = words_up(stack, word, kMaxPointWords)) return Operand{Operand::Kind::kStack, *up};
  }
  return std::nullopt;
}

std::optional<CallOperands::Size> CallOperands::size_at(std::size_t node) const {
  const StackState& stack = graph_.nodes[node].before;
  const Values& values = values_[node];
  const bool has_factor = meaning_of(kind_).factor.has_value();
  if (has_factor) {
    if (const auto product = operand_of(values[kProduct], stack)) return Size{*product, {}};
  }
  const auto size = operand_of(values[kSize], stack);
  const auto factor = has_factor ? operand_of(values[kFactor], stack) : std::optional(Operand());
  if (!size || !factor) return std::nullopt;
  return Size{*size, *factor};
}

bool CallOperands::set_frame(std::size_t node, YieldPoint& point) const {
  const std::optional<CallerFrame> frame = caller_frame(graph_.nodes[node].before, kMaxPointWords);
  if (!frame) return false;
  point.slot_words = frame->slot_words;
  point.saved_rbp_words = frame->saved_rbp_words;
  return true;
}

}  // namespace hawk
