#include "userspace/tables/stack_ends.h"

#include <gtest/gtest.h>

#include <cctype>
#include <set>
#include <string>

#include "userspace/tables/snapshot.h"

namespace hawk {
namespace {

TEST(StackEnds, EachHasANameOfItsOwnAndASentence) {
  std::set<std::string> names;
  for (int end = 0; end < HAWK_END_COUNT; ++end) {
    const EndText& text = end_text(static_cast<hawk_end>(end));
    names.emplace(text.json_name);
    EXPECT_FALSE(text.sentence.empty());
    for (const char c : text.json_name) EXPECT_TRUE(std::islower(c) != 0 || c == '_') << text.json_name;
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(HAWK_END_COUNT));
  EXPECT_EQ(end_text(HAWK_END_DEPTH).json_name, "depth_limit");
}

TEST(StackEnds, OnlyAnOutermostFrameThatRulesLedToMakesAStackComplete) {
  for (int end = 0; end < HAWK_END_COUNT; ++end) {
    StackRecord stack{.id = StackId{5}, .counters = {}, .frames = {}};
    stack.end = static_cast<hawk_end>(end);
    EXPECT_EQ(quality_name(stack.quality()), end == HAWK_END_OUTERMOST ? "complete" : "truncated");
    stack.guessed = true;
    EXPECT_EQ(quality_name(stack.quality()), end == HAWK_END_DEPTH ? "truncated" : "guessed");
  }
}

}  // namespace
}  // namespace hawk
