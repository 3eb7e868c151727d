#include "userspace/attach/link_choice.h"

#include <gtest/gtest.h>

namespace hawk {
namespace {

LinkScope choice(std::size_t targets, std::size_t others) {
  return choose_links({.targets = targets, .others = others}, {.link_ns = 105, .stranger_ns = 1300});
}

TEST(LinkChoice, FewHaveTheirOwn) {
  for (const std::size_t targets : {0U, 1U, 2U, 8U}) EXPECT_EQ(choice(targets, 0), LinkScope::kProcess) << targets;
  EXPECT_EQ(choice(9, 0), LinkScope::kFile);
}

TEST(LinkChoice, WeighsTargetsAgainstOthers) {
  EXPECT_EQ(choice(20, 31), LinkScope::kFile);
  EXPECT_EQ(choice(20, 32), LinkScope::kProcess);
  EXPECT_EQ(choice(100, 800), LinkScope::kFile);
  EXPECT_EQ(choice(100, 900), LinkScope::kProcess);
}

TEST(LinkChoice, MoreTargetsNeverSpeakAgainstTheFile) {
  for (std::size_t others = 0; others < 100; others += 7) {
    bool is_file = false;
    for (std::size_t targets = 1; targets < 100; ++targets) {
      const bool now = choice(targets, others) == LinkScope::kFile;
      EXPECT_TRUE(now || !is_file) << targets << " beside " << others;
      is_file = now;
    }
  }
}

TEST(LinkChoice, CountingMoreChangesNothing) {
  for (const std::size_t targets : {9U, 20U, 100U, 1000U}) {
    const std::size_t enough = most_others_to_count(targets, {.link_ns = 105, .stranger_ns = 1300});
    EXPECT_EQ(choice(targets, enough), LinkScope::kProcess);
    EXPECT_EQ(choice(targets, enough + 1000), LinkScope::kProcess);
    EXPECT_EQ(choice(targets, enough - 1), LinkScope::kFile);
  }
}

TEST(LinkChoice, IsMadeAgainWithManyMore) {
  for (const std::size_t few : {0U, 3U, 8U}) EXPECT_FALSE(should_choose_again(few, 0)) << few;
  EXPECT_TRUE(should_choose_again(9, 0));
  EXPECT_FALSE(should_choose_again(100, 100));
  EXPECT_FALSE(should_choose_again(124, 100));
  EXPECT_TRUE(should_choose_again(125, 100));
  EXPECT_FALSE(should_choose_again(50, 100));
}

}  // namespace
}  // namespace hawk
