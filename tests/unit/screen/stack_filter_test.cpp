#include "userspace/screen/stack_filter.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/report/sample_snapshots.h"

namespace hawk {
namespace {

std::vector<ValuedStack> all_stacks(const Sample& sample) {
  std::vector<ValuedStack> stacks;
  for (const StackRecord& stack : sample.snapshot.stacks) stacks.push_back({.value = 0, .stack = &stack});
  return stacks;
}

std::size_t matches(const std::string& pattern, Sample& sample) {
  std::vector<ValuedStack> stacks = all_stacks(sample);
  StackFilter(pattern).apply(stacks, sample.snapshot, sample.symbolizer);
  return stacks.size();
}

TEST(StackFilter, MatchesFunctionsFilesAndModules) {
  Sample sample = service_sample();
  EXPECT_EQ(matches("", sample), 4U);
  EXPECT_EQ(matches("SessionTable", sample), 1U);
  EXPECT_EQ(matches("sessiontable::o.en", sample), 1U);
  EXPECT_EQ(matches("^strdup$", sample), 1U);
  EXPECT_EQ(matches("cache\\.cpp|parse\\.c", sample), 2U);
  EXPECT_EQ(matches("bin/shop-server", sample), 4U);
  EXPECT_EQ(matches("nosuch", sample), 0U);
}

TEST(StackFilter, WhatIsNoExpressionIsSearchedForAsItStands) {
  Sample sample = empty_sample();
  sample.add_stack(1, {1, 1, 0, 0}, {sample.call(sample.add_module("/a", ""), {function("operator()(int")})});
  EXPECT_EQ(matches("OPERATOR()(I", sample), 1U);
  EXPECT_FALSE(StackFilter("operator()(i").is_expression());
  EXPECT_TRUE(StackFilter("operator").is_expression());
}

TEST(StackFilter, LooksAtAStackOnce) {
  Sample sample = service_sample();
  StackFilter filter("Cache");
  for (int i = 0; i < 2; ++i) {
    std::vector<ValuedStack> stacks = all_stacks(sample);
    filter.apply(stacks, sample.snapshot, sample.symbolizer);
    EXPECT_EQ(stacks.size(), 1U);
  }
  const std::size_t once = sample.symbolizer.lookups();
  std::vector<ValuedStack> stacks = {{.value = 0, .stack = &sample.snapshot.stacks[0]}};
  filter.apply(stacks, sample.snapshot, sample.symbolizer);
  EXPECT_EQ(sample.symbolizer.lookups(), once);
}

}  // namespace
}  // namespace hawk
