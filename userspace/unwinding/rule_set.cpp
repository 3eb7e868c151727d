#include "userspace/unwinding/rule_set.h"

#include "userspace/base/fibonacci_hash.h"
#include "userspace/unwinding/arch/x86_64/registers.h"

namespace hawk {
namespace {

/// So many slots for each rule at least, so that what collides is found in one or two steps.
constexpr std::size_t kSlotsPerRule = 4;
constexpr std::size_t kFirstSlots = 1024;
constexpr std::size_t kMaxSteps = 64;

/// Field by field, here and in is_same(): a rule that was stored in pieces a moment ago and is read as a whole waits
/// for the processor to put it together, which took a tenth of all time.
std::uint64_t hash_of(const hawk_rule& rule) {
  constexpr std::uint64_t kOdd1 = kGoldenRatio, kOdd2 = 0xd6e8feb86659fd93, kOdd3 = 0xc2b2ae3d27d4eb4f;
  const std::uint64_t mixed = static_cast<std::uint32_t>(rule.cfa_offset) * kOdd1 +
                              static_cast<std::uint32_t>(rule.fp_offset) * kOdd2 +
                              static_cast<std::uint32_t>(rule.load_offset) * kOdd3 + rule.kind * (kOdd1 >> 7 | 1) +
                              rule.base * (kOdd2 >> 7 | 1) + rule.fp_rule * (kOdd3 >> 7 | 1) + rule.is_guess;
  return ((mixed ^ (mixed >> 32)) * kOdd2) >> 32;
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

RuleSet::RuleSet(std::size_t most) : most_(most), slots_(kFirstSlots) {
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

/// Where the rule's number stands, or is to stand; or another's, if there is no room.
std::size_t RuleSet::slot_of(const hawk_rule& rule) const {
  const std::size_t mask = slots_.size() - 1;  // a power of two
  std::size_t slot = hash_of(rule) & mask;
  for (std::size_t step = 1; step < kMaxSteps; ++step, slot = (slot + 1) & mask) {
    if (slots_[slot] == 0 || is_same(rules_[slots_[slot]], rule)) break;
  }
  return slot;
}

void RuleSet::fill_slots() {
  for (std::size_t number = 0; number < rules_.size(); ++number) {
    if (has_operands(rules_[number].kind)) slots_[slot_of(rules_[number])] = static_cast<std::uint16_t>(number);
  }
}

std::uint16_t RuleSet::add(const hawk_rule& rule) {
  ++changes_;
  if (!free_.empty()) {
    const std::uint16_t number = free_.back();
    free_.pop_back();
    rules_[number] = rule;
    return number;
  }
  rules_.push_back(rule);
  return static_cast<std::uint16_t>(rules_.size() - 1);
}

bool RuleSet::knows(const hawk_rule& rule) const {
  if (!has_operands(rule.kind)) return true;
  const std::uint16_t number = slots_[slot_of(rule)];
  return number != 0 && is_same(rules_[number], rule);
}

void RuleSet::forget(std::span<const std::uint32_t> numbers) {
  for (const std::uint32_t number : numbers) {
    rules_[number] = rule_without_operands(HAWK_RULE_UNSUPPORTED);
    free_.push_back(static_cast<std::uint16_t>(number));
  }
  changes_ += numbers.size();
  slots_.assign(slots_.size(), 0);
  fill_slots();
}

std::uint32_t RuleSet::number_of(const hawk_rule& rule) {
  if (!has_operands(rule.kind)) return rule.kind;
  std::uint16_t& slot = slots_[slot_of(rule)];
  if (slot != 0 && is_same(rules_[slot], rule)) return slot;
  if (slot != 0 || count() >= most_) {
    ++refused_;
    return HAWK_RULE_UNSUPPORTED;
  }
  const std::uint16_t number = slot = add(rule);
  if (slots_.size() < kSlotsPerRule * rules_.size()) {
    slots_.assign(kSlotsPerRule * slots_.size(), 0);
    fill_slots();
  }
  return number;
}

}  // namespace hawk
