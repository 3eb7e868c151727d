#include "userspace/unwinding/rule_set.h"

#include "userspace/unwinding/arch/x86_64/registers.h"

namespace hawk {
namespace {

/// Four times as many as rules, so that what collides is found in one or two steps.
constexpr std::size_t kSlotBits = 16;
constexpr std::size_t kSlots = 1u << kSlotBits;
constexpr std::size_t kMaxSteps = 64;
static_assert(kSlots == 4 * HAWK_MAX_RULES);

/// Field by field, here and in is_same(): a rule that was stored in pieces a moment ago and is read as a whole waits
/// for the processor to put it together, which took a tenth of all time.
std::size_t first_slot(const hawk_rule& rule) {
  constexpr std::uint64_t kOdd1 = 0x9e3779b97f4a7c15, kOdd2 = 0xd6e8feb86659fd93, kOdd3 = 0xc2b2ae3d27d4eb4f;
  const std::uint64_t mixed = static_cast<std::uint32_t>(rule.cfa_offset) * kOdd1 +
                              static_cast<std::uint32_t>(rule.fp_offset) * kOdd2 +
                              static_cast<std::uint32_t>(rule.load_offset) * kOdd3 + rule.kind * (kOdd1 >> 7 | 1) +
                              rule.base * (kOdd2 >> 7 | 1) + rule.fp_rule * (kOdd3 >> 7 | 1) + rule.is_guess;
  return ((mixed ^ (mixed >> 32)) * kOdd2) >> (64 - kSlotBits);
}

bool is_same(const hawk_rule& one, const hawk_rule& other) {
  return one.cfa_offset == other.cfa_offset && one.fp_offset == other.fp_offset &&
         one.load_offset == other.load_offset && one.kind == other.kind && one.base == other.base &&
         one.fp_rule == other.fp_rule && one.is_guess == other.is_guess;
}

bool has_operands(std::uint8_t kind) {
  return kind == HAWK_RULE_PLAIN || kind == HAWK_RULE_LOADED || kind == HAWK_RULE_PLT;
}

}  // namespace

RuleSet::RuleSet() : slots_(kSlots) {
  for (std::uint8_t kind = 0; kind < HAWK_RULE_KINDS; ++kind) {
    rules_.push_back(rule_without_operands(has_operands(kind) ? std::uint8_t{HAWK_RULE_UNSUPPORTED} : kind));
  }
  number_of({.cfa_offset = -arch::kFramePointerAtCfa,
             .fp_offset = arch::kFramePointerAtCfa,
             .load_offset = 0,
             .kind = HAWK_RULE_PLAIN,
             .base = HAWK_BASE_FP,
             .fp_rule = HAWK_FP_AT_CFA,
             .is_guess = 1});
  rules_.push_back(rule_without_operands(HAWK_RULE_NO_CODE));
}

std::uint32_t RuleSet::number_of(const hawk_rule& rule) {
  if (!has_operands(rule.kind)) return rule.kind;
  std::size_t slot = first_slot(rule);
  for (std::size_t step = 0; step < kMaxSteps; ++step, slot = (slot + 1) % kSlots) {
    const std::uint16_t number = slots_[slot];
    if (number != 0 && is_same(rules_[number], rule)) return number;
    if (number == 0 && rules_.size() < HAWK_MAX_RULES) {
      slots_[slot] = static_cast<std::uint16_t>(rules_.size());
      rules_.push_back(rule);
      return slots_[slot];
    }
    if (number == 0) break;
  }
  ++refused_;
  return HAWK_RULE_UNSUPPORTED;
}

}  // namespace hawk
