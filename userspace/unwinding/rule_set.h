#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bpf/unwind/layout.h"

namespace hawk {

/// The rule of a kind that says everything by itself.
inline hawk_rule rule_without_operands(std::uint8_t kind) {
  hawk_rule rule = {};
  rule.kind = kind;
  return rule;
}

/// Distinct unwind rules, each with a number. Numbers below HAWK_FIRST_RULE are those of the reserved rules, which are
/// there from the start: for each kind without operands the rule of that kind, HAWK_RULE_FRAME_POINTER, and
/// HAWK_RULE_NO_CODE_CACHED. (The numbers of kinds with operands are never given; HAWK_RULE_UNSUPPORTED stands there.)
/// Numbers never change.
class RuleSet {
 public:
  /// `most`: rules that it holds at most, the reserved ones included; up to HAWK_MAX_RULES.
  explicit RuleSet(std::size_t most = HAWK_MAX_RULES);
  /// The number of `rule`, a new one if it is not known. HAWK_RULE_UNSUPPORTED when there is no room for it. Some 5 ns
  /// for rules that came a moment ago, and never more than 64 comparisons, whatever rules come: some 10^-20 of them
  /// would find no room before the set is full.
  std::uint32_t number_of(const hawk_rule& rule);
  bool knows(const hawk_rule& rule) const;
  /// By number. What has been forgotten is HAWK_RULE_UNSUPPORTED there.
  std::span<const hawk_rule> rules() const { return rules_; }
  /// How many there are.
  std::size_t count() const { return rules_.size() - free_.size(); }
  /// Forgets these, none of which is reserved: their numbers will be those of other rules.
  void forget(std::span<const std::uint32_t> numbers);
  /// How often rules() has changed.
  std::uint64_t changes() const { return changes_; }
  /// Times that there was no room.
  std::uint64_t refused() const { return refused_; }
  /// There was no room in another set, whose rules are taken into this one.
  void note_refused(std::uint64_t times) { refused_ += times; }

 private:
  std::size_t slot_of(const hawk_rule& rule) const;
  std::uint16_t add(const hawk_rule& rule);
  void fill_slots();

  std::size_t most_;
  std::vector<hawk_rule> rules_;
  std::vector<std::uint16_t> free_;  ///< numbers that were forgotten
  std::uint64_t changes_ = 0;
  /// Hash table of rule numbers, linear probing; 0, which is a rule without operands, where nothing is. It grows with
  /// the rules: a worker makes a set for each file, and most have a few dozen.
  std::vector<std::uint16_t> slots_;
  std::uint64_t refused_ = 0;
};

}  // namespace hawk
