#include "userspace/unwinding/frame_rule.h"

#include <cstdint>
#include <limits>

#include "userspace/unwinding/arch/x86_64/registers.h"
#include "userspace/unwinding/rule_set.h"

namespace hawk {
namespace {

using Rule = SavedRegister::Rule;

FrameRule unsupported(Unsupported what) {
  return {.rule = rule_without_operands(HAWK_RULE_UNSUPPORTED), .unsupported = what};
}

bool is_signal_layout(const FrameState& state) {
  return state.cfa.kind == CfaRule::Kind::kLoaded && state.cfa.base == arch::kStackPointer && state.cfa.offset == 0 &&
         state.cfa.load_offset == arch::kSignalStackPointer &&
         state.return_address == SavedRegister{Rule::kAtSp, arch::kSignalReturnAddress} &&
         state.frame_pointer == SavedRegister{Rule::kAtSp, arch::kSignalFramePointer};
}

Unsupported check_return_address(const SavedRegister& saved) {
  switch (saved.rule) {
    case Rule::kAtCfa:
      return saved.offset == arch::kReturnAddressAtCfa ? Unsupported::kNothing : Unsupported::kReturnAddressRule;
    case Rule::kRegister:
      return Unsupported::kReturnAddressInRegister;
    case Rule::kUnchanged:
    case Rule::kUndefined:
      return Unsupported::kReturnAddressMissing;
    default:
      return Unsupported::kReturnAddressExpression;
  }
}

/// The caller's stack pointer is the CFA unless something else is said.
bool is_cfa(const SavedRegister& stack_pointer) {
  return stack_pointer.rule == Rule::kUnchanged || (stack_pointer.rule == Rule::kIsCfa && stack_pointer.offset == 0);
}

bool fits(std::int64_t offset) {
  return offset >= std::numeric_limits<std::int32_t>::min() && offset <= std::numeric_limits<std::int32_t>::max();
}

Unsupported set_cfa(const CfaRule& cfa, hawk_rule& rule) {
  switch (cfa.kind) {
    case CfaRule::Kind::kMissing:
      return Unsupported::kCfaMissing;
    case CfaRule::Kind::kExpression:
      return Unsupported::kCfaExpression;
    case CfaRule::Kind::kRegister:
      rule.kind = HAWK_RULE_PLAIN;
      break;
    case CfaRule::Kind::kLoaded:
      rule.kind = HAWK_RULE_LOADED;
      break;
    case CfaRule::Kind::kPlt:
      rule.kind = HAWK_RULE_PLT;
      break;
  }
  if (cfa.base != arch::kStackPointer && cfa.base != arch::kFramePointer) return Unsupported::kCfaRegister;
  rule.base = cfa.base == arch::kStackPointer ? HAWK_BASE_SP : HAWK_BASE_FP;
  if (rule.kind == HAWK_RULE_PLT && rule.base != HAWK_BASE_SP) return Unsupported::kCfaExpression;
  if (!fits(cfa.offset) || !fits(cfa.load_offset)) return Unsupported::kLargeOffset;
  rule.cfa_offset = static_cast<std::int32_t>(cfa.offset);
  rule.load_offset = static_cast<std::int32_t>(cfa.load_offset);
  return Unsupported::kNothing;
}

Unsupported set_frame_pointer(const SavedRegister& saved, hawk_rule& rule) {
  rule.fp_rule = HAWK_FP_LOST;
  if (saved.rule == Rule::kUndefined) return Unsupported::kNothing;
  if (saved.rule == Rule::kUnchanged) {
    rule.fp_rule = HAWK_FP_SAME;
    return Unsupported::kNothing;
  }
  if (!fits(saved.offset)) return Unsupported::kFramePointer;
  if (saved.rule == Rule::kAtCfa) {
    rule.fp_rule = HAWK_FP_AT_CFA;
  } else if (saved.rule == Rule::kAtSp) {
    rule.fp_rule = HAWK_FP_AT_SP;
  } else if (saved.rule == Rule::kAtFp) {
    rule.fp_rule = HAWK_FP_AT_FP;
  } else {
    return Unsupported::kFramePointer;
  }
  rule.fp_offset = static_cast<std::int32_t>(saved.offset);
  return Unsupported::kNothing;
}

}  // namespace

FrameRule frame_rule(const FrameState& state, bool is_signal_frame) {
  if (state.return_address.rule == Rule::kUndefined) return {.rule = rule_without_operands(HAWK_RULE_END)};
  if (is_signal_frame) {
    return is_signal_layout(state) ? FrameRule{.rule = rule_without_operands(HAWK_RULE_SIGNAL)}
                                   : unsupported(Unsupported::kSignalFrame);
  }
  FrameRule made;
  Unsupported flaw = set_cfa(state.cfa, made.rule);
  if (flaw == Unsupported::kNothing) flaw = check_return_address(state.return_address);
  if (flaw == Unsupported::kNothing && !is_cfa(state.stack_pointer)) flaw = Unsupported::kStackPointer;
  if (flaw != Unsupported::kNothing) return unsupported(flaw);
  made.unsupported = set_frame_pointer(state.frame_pointer, made.rule);
  return made;
}

}  // namespace hawk
