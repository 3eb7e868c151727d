#include "userspace/unwinding/rule_set.h"

#include <array>
#include <cstring>

#include "userspace/unwinding/x86_64.h"

namespace hawk {
namespace {

/// Four times as many as rules, so that what collides is found in one or two steps.
constexpr std::size_t kSlotBits = 16;
constexpr std::size_t kSlots = 1u << kSlotBits;
constexpr std::size_t kMaxSteps = 64;
static_assert(kSlots == 4 * HAWK_MAX_RULES);

using Words = std::array<std::uint64_t, 2>;
static_assert(sizeof(Words) == sizeof(hawk_rule));

Words words_of(const hawk_rule& rule) {
  Words words;
  std::memcpy(words.data(), &rule, sizeof(rule));
  return words;
}

std::size_t first_slot(const Words& words) {
  constexpr std::uint64_t kOdd1 = 0x9e3779b97f4a7c15, kOdd2 = 0xd6e8feb86659fd93;
  const std::uint64_t mixed = (words[0] ^ (words[1] * kOdd2)) * kOdd1;
  return ((mixed ^ (mixed >> 32)) * kOdd2) >> (64 - kSlotBits);
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
             .fp_place = HAWK_FP_AT_CFA,
             .is_guess = 1});
}

std::uint32_t RuleSet::number_of(const hawk_rule& rule) {
  if (!has_operands(rule.kind)) return rule.kind;
  const Words words = words_of(rule);
  std::size_t slot = first_slot(words);
  for (std::size_t step = 0; step < kMaxSteps; ++step, slot = (slot + 1) % kSlots) {
    const std::uint16_t number = slots_[slot];
    if (number != 0 && words_of(rules_[number]) == words) return number;
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
