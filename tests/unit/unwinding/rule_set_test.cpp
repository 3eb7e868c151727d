#include "userspace/unwinding/rule_set.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace hawk {
namespace {

hawk_rule plain(std::int32_t cfa_offset) {
  hawk_rule rule = rule_without_operands(HAWK_RULE_PLAIN);
  rule.cfa_offset = cfa_offset;
  return rule;
}

TEST(RuleSet, RulesWithoutOperandsHaveTheNumberOfTheirKind) {
  RuleSet set;
  for (const std::uint8_t kind : {HAWK_RULE_NO_CODE, HAWK_RULE_NO_TABLE, HAWK_RULE_GAP, HAWK_RULE_UNSUPPORTED,
                                  HAWK_RULE_CHANGING, HAWK_RULE_SIGNAL, HAWK_RULE_END}) {
    EXPECT_EQ(set.number_of(rule_without_operands(kind)), kind);
    EXPECT_EQ(set.rules()[kind].kind, kind);
  }
  EXPECT_EQ(set.rules().size(), std::size_t{HAWK_FIRST_RULE});
}

TEST(RuleSet, NoCodeHasASecondNumberByWhichItCanBeCached) {
  RuleSet set;
  ASSERT_NE(HAWK_RULE_NO_CODE_CACHED, 0u);
  EXPECT_EQ(set.rules()[HAWK_RULE_NO_CODE_CACHED].kind, HAWK_RULE_NO_CODE);
  EXPECT_EQ(set.number_of(rule_without_operands(HAWK_RULE_NO_CODE)), HAWK_RULE_NO_CODE);
}

TEST(RuleSet, TheFramePointerStepIsAGuess) {
  const RuleSet set;
  const hawk_rule& rule = set.rules()[HAWK_RULE_FRAME_POINTER];
  EXPECT_EQ(rule.kind, HAWK_RULE_PLAIN);
  EXPECT_EQ(rule.base, HAWK_BASE_FP);
  EXPECT_EQ(rule.cfa_offset, 16);
  EXPECT_EQ(rule.fp_rule, HAWK_FP_AT_CFA);
  EXPECT_EQ(rule.fp_offset, -16);
  EXPECT_EQ(rule.is_guess, 1);
}

TEST(RuleSet, TheSameStepFromATableIsNone) {
  RuleSet set;
  hawk_rule rule = set.rules()[HAWK_RULE_FRAME_POINTER];
  EXPECT_EQ(set.number_of(rule), std::uint32_t{HAWK_RULE_FRAME_POINTER});
  rule.is_guess = 0;
  EXPECT_EQ(set.number_of(rule), std::uint32_t{HAWK_FIRST_RULE});
}

TEST(RuleSet, EqualRulesHaveOneNumber) {
  RuleSet set;
  const std::uint32_t first = set.number_of(plain(8)), second = set.number_of(plain(16));
  EXPECT_EQ(first, std::uint32_t{HAWK_FIRST_RULE});
  EXPECT_EQ(second, first + 1);
  EXPECT_EQ(set.number_of(plain(8)), first);
  EXPECT_EQ(set.number_of(plain(16)), second);
  EXPECT_EQ(set.rules()[second].cfa_offset, 16);
}

TEST(RuleSet, EveryFieldCounts) {
  RuleSet set;
  const hawk_rule rule = plain(8);
  const std::uint32_t number = set.number_of(rule);
  for (std::size_t i = 0; i < sizeof(rule); ++i) {
    if (i == offsetof(hawk_rule, kind)) continue;
    hawk_rule changed = rule;
    reinterpret_cast<unsigned char*>(&changed)[i] ^= 1;
    EXPECT_NE(set.number_of(changed), number) << i;
  }
}

TEST(RuleSet, WhatDoesNotFitIsUnsupportedAndCounted) {
  RuleSet set;
  for (std::uint32_t number = HAWK_FIRST_RULE; number < HAWK_MAX_RULES; ++number) {
    ASSERT_EQ(set.number_of(plain(static_cast<std::int32_t>(8 * number))), number);
  }
  EXPECT_EQ(set.refused(), 0u);
  EXPECT_EQ(set.number_of(plain(4)), std::uint32_t{HAWK_RULE_UNSUPPORTED});
  EXPECT_EQ(set.refused(), 1u);
  EXPECT_EQ(set.rules().size(), std::size_t{HAWK_MAX_RULES});
  EXPECT_EQ(set.number_of(plain(8 * HAWK_FIRST_RULE)), std::uint32_t{HAWK_FIRST_RULE}) << "known ones keep theirs";
}

TEST(RuleSet, NumbersThatAreForgottenAreGivenAgain) {
  RuleSet set(HAWK_FIRST_RULE + 3);
  for (std::int32_t rule = 0; rule < 3; ++rule) set.number_of(plain(16 * rule));
  EXPECT_EQ(set.number_of(plain(160)), std::uint32_t{HAWK_RULE_UNSUPPORTED});
  const std::uint32_t second = set.number_of(plain(16)), changes_before = static_cast<std::uint32_t>(set.changes());
  set.forget(std::vector{second});
  EXPECT_FALSE(set.knows(plain(16)));
  EXPECT_TRUE(set.knows(plain(0)) && set.knows(plain(32)));
  EXPECT_EQ(set.rules()[second].kind, HAWK_RULE_UNSUPPORTED) << "a walk that meets it ends";
  EXPECT_EQ(set.count(), std::size_t{HAWK_FIRST_RULE + 2});
  EXPECT_GT(set.changes(), changes_before);
  EXPECT_EQ(set.number_of(plain(160)), second);
  EXPECT_EQ(set.number_of(plain(32)), std::uint32_t{HAWK_FIRST_RULE + 2}) << "others keep theirs";
  EXPECT_EQ(set.number_of(plain(16)), std::uint32_t{HAWK_RULE_UNSUPPORTED}) << "it is full again";
}

TEST(RuleSet, AnyRulesCanBeForgotten) {
  RuleSet set;
  std::vector<std::uint32_t> forgotten;
  for (std::int32_t rule = 0; rule < 5000; ++rule) {
    const std::uint32_t number = set.number_of(plain(16 * rule));
    if (rule % 3 == 0) forgotten.push_back(number);
  }
  set.forget(forgotten);
  for (std::int32_t rule = 0; rule < 5000; ++rule) EXPECT_EQ(set.knows(plain(16 * rule)), rule % 3 != 0) << rule;
  for (std::int32_t rule = 0; rule < 5000; ++rule)
    EXPECT_EQ(set.rules()[set.number_of(plain(16 * rule))].cfa_offset, 16 * rule);
  EXPECT_EQ(set.count(), std::size_t{HAWK_FIRST_RULE + 5000});
}

}  // namespace
}  // namespace hawk
