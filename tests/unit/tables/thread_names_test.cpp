#include "userspace/tables/thread_names.h"

#include <gtest/gtest.h>

namespace hawk {
namespace {

TEST(ThreadNames, AThreadIsThereUnderEachOfItsNames) {
  const SharedTable<ThreadEvent> events = {{0, 10, "main"}, {0, 11, "pool"}, {5, 11, "pool-1"}, {7, 12, ""}};
  const std::vector<NamedThread> expected = {
      {10, "main", 0, {}}, {11, "pool", 0, 5}, {11, "pool-1", 5, {}}, {12, "", 7, {}}};
  EXPECT_EQ(named_threads(events), expected);
}

TEST(ThreadNames, ANumberMayBeAnotherThreadsLater) {
  const SharedTable<ThreadEvent> events = {{0, 10, "a"}, {1, 10, {}}, {2, 10, "b"}};
  const std::vector<NamedThread> expected = {{10, "a", 0, 1}, {10, "b", 2, {}}};
  EXPECT_EQ(named_threads(events), expected);
}

/// In an untrusted recording.
TEST(ThreadNames, TheEndOfAThreadThatNeverWasIsNothing) {
  EXPECT_TRUE(named_threads({{3, 10, {}}, {3, -1, {}}}).empty());
}

}  // namespace
}  // namespace hawk
