#include "userspace/report/verdict.h"

#include <gtest/gtest.h>

namespace hawk {
namespace {

std::string text_of(const Snapshot& snapshot) { return verdict(snapshot, NumberStyle::kReadable).text; }

Snapshot with_stack(hawk_end end) {
  Snapshot snapshot;
  snapshot.stacks.push_back({.id = StackId{7}, .counters = {100, 1, 0, 0}, .end = end, .frames = {}});
  return snapshot;
}

TEST(Verdict, ExactIsOfNumbersAndCompleteOfStacks) {
  EXPECT_EQ(text_of(with_stack(HAWK_END_OUTERMOST)), "exact");
  Snapshot cut = with_stack(HAWK_END_DEPTH);
  cut.losses[HAWK_LOSS_TRUNCATED_STACK] = 1;
  EXPECT_TRUE(cut.exact());
  EXPECT_FALSE(cut.stacks_complete());
  EXPECT_EQ(text_of(cut), "numbers exact, stacks incomplete");
  Snapshot guessed = with_stack(HAWK_END_OUTERMOST);
  guessed.stacks.front().guessed = true;
  EXPECT_FALSE(guessed.stacks_complete());
}

TEST(Verdict, WhatHasNoStackIsCountedAllTheSame) {
  Snapshot full = with_stack(HAWK_END_OUTERMOST);
  full.losses[HAWK_LOSS_STACK_TABLE_FULL] = 3;
  EXPECT_TRUE(full.exact());
  EXPECT_FALSE(full.stacks_complete());
}

TEST(Verdict, TheWholeIsNotExactWhereChildrenAreNotTraced) {
  Snapshot parent = with_stack(HAWK_END_OUTERMOST);
  parent.losses[HAWK_LOSS_UNTRACED_CHILD] = 1;
  EXPECT_TRUE(parent.numbers_exact());
  EXPECT_FALSE(parent.exact());
  EXPECT_EQ(text_of(parent), "exact for this process, 1 child process not traced");
  parent.losses[HAWK_LOSS_UNTRACED_CHILD] = 1234;
  EXPECT_EQ(text_of(parent), "exact for this process, 1,234 child processes not traced");
  parent.losses[HAWK_LOSS_LIVE_TABLE_FULL] = 1;
  EXPECT_EQ(text_of(parent), "NOT exact");
}

TEST(Verdict, NamesOnlyTheFirstPrograms) {
  UntracedChildren children;
  for (int i = 0; i < 20; ++i) children.programs.push_back({"p" + std::to_string(i), 1});
  EXPECT_EQ(child_programs_text(children, NumberStyle::kReadable),
            "p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11 and 8 other programs");
  EXPECT_EQ(child_programs_text({.without_exec = 1, .programs = {}}, NumberStyle::kReadable),
            "1 copy of the process itself");
  EXPECT_EQ(child_programs_text({}, NumberStyle::kReadable), "");
}

}  // namespace
}  // namespace hawk
