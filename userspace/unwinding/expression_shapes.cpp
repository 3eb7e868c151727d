#include "userspace/unwinding/expression_shapes.h"

#include <array>
#include <optional>

#include "userspace/base/byte_cursor.h"
#include "userspace/unwinding/arch/x86_64/registers.h"
#include "userspace/unwinding/call_frame_codes.h"

namespace hawk {
namespace {

struct RegisterAndOffset {
  std::uint64_t number = 0;
  std::int64_t offset = 0;
};

std::optional<RegisterAndOffset> read_breg(ByteCursor& cursor) {
  const std::uint8_t operation = cursor.byte();
  RegisterAndOffset found;
  if (operation >= dwarf::kOpBreg0 && operation <= dwarf::kOpBreg31) {
    found.number = operation - dwarf::kOpBreg0;
  } else if (operation == dwarf::kOpBregx) {
    found.number = cursor.uleb();
  } else {
    return std::nullopt;
  }
  found.offset = cursor.sleb();
  if (!cursor.ok()) return std::nullopt;
  return found;
}

constexpr std::uint8_t literal(std::uint8_t value) { return dwarf::kOpLit0 + value; }

/// From where on in a stub of 16 bytes; nullopt when it is another expression.
std::optional<std::int64_t> read_plt_tail(ByteCursor& cursor) {
  const std::optional<RegisterAndOffset> pc = read_breg(cursor);
  if (!pc || pc->number != arch::kReturnAddress || pc->offset != 0) return std::nullopt;
  if (cursor.byte() != literal(arch::kPltAddressMask) || cursor.byte() != dwarf::kOpAnd) return std::nullopt;
  const std::uint8_t threshold = cursor.byte();
  if (threshold < literal(0) || threshold > literal(arch::kPltAddressMask)) return std::nullopt;
  constexpr std::array<std::uint8_t, 4> kRest = {dwarf::kOpGe, literal(arch::kPltShift), dwarf::kOpShl, dwarf::kOpPlus};
  for (const std::uint8_t operation : kRest) {
    if (cursor.byte() != operation) return std::nullopt;
  }
  if (!cursor.ok() || !cursor.at_end()) return std::nullopt;
  return threshold - literal(0);
}

}  // namespace

CfaRule cfa_by_expression(std::span<const std::uint8_t> expression) {
  constexpr CfaRule kUnknown = {.kind = CfaRule::Kind::kExpression};
  ByteCursor cursor(expression);
  const std::optional<RegisterAndOffset> first = read_breg(cursor);
  if (!first) return kUnknown;
  if (cursor.at_end()) return {.kind = CfaRule::Kind::kRegister, .base = first->number, .offset = first->offset};
  if (*cursor.next() != dwarf::kOpDeref) {
    const std::optional<std::int64_t> threshold = read_plt_tail(cursor);
    if (!threshold) return kUnknown;
    return {.kind = CfaRule::Kind::kPlt, .base = first->number, .offset = first->offset, .load_offset = *threshold};
  }
  cursor.byte();
  CfaRule loaded = {.kind = CfaRule::Kind::kLoaded, .base = first->number, .load_offset = first->offset};
  if (cursor.at_end()) return loaded;
  if (cursor.byte() != dwarf::kOpPlusUconst) return kUnknown;
  loaded.offset = static_cast<std::int64_t>(cursor.uleb());
  return cursor.ok() && cursor.at_end() ? loaded : kUnknown;
}

SavedRegister rule_by_expression(std::span<const std::uint8_t> expression) {
  ByteCursor cursor(expression);
  const std::optional<RegisterAndOffset> rule = read_breg(cursor);
  if (rule && cursor.at_end() && rule->number == arch::kStackPointer) {
    return {.rule = SavedRegister::Rule::kAtSp, .offset = rule->offset};
  }
  if (rule && cursor.at_end() && rule->number == arch::kFramePointer) {
    return {.rule = SavedRegister::Rule::kAtFp, .offset = rule->offset};
  }
  return {.rule = SavedRegister::Rule::kExpression};
}

}  // namespace hawk
