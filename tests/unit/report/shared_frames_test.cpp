#include "userspace/report/shared_frames.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace hawk {
namespace {

StackFrames stack_of(const std::vector<std::uint32_t>& locations) {
  std::vector<LocationId> ids;
  for (const std::uint32_t location : locations) ids.push_back(LocationId{location});
  return StackFrames(std::move(ids));
}

void expect_shared(const SharedFrames::Shared& shared, std::size_t rank, std::size_t locations) {
  EXPECT_EQ(shared.locations, locations);
  EXPECT_EQ(shared.rank, rank);
}

TEST(SharedFrames, CountsFromTheOutermostAndNamesTheFirstStackThatHasThem) {
  SharedFrames stacks;
  expect_shared(stacks.add(1, stack_of({10, 20, 30, 40})), 0, 0);
  expect_shared(stacks.add(2, stack_of({11, 20, 30, 40})), 1, 3);
  expect_shared(stacks.add(3, stack_of({12, 11, 20, 30, 40})), 2, 4);
  expect_shared(stacks.add(4, stack_of({13, 31, 40})), 1, 1);
  expect_shared(stacks.add(5, stack_of({13, 30, 41})), 0, 0);
  expect_shared(stacks.add(6, stack_of({10, 20, 30, 40})), 1, 4);
  expect_shared(stacks.add(7, stack_of({30, 40})), 1, 2);
  expect_shared(stacks.add(8, stack_of({})), 0, 0);
}

TEST(SharedFrames, NeverClaimsMoreThanIsTrueOfVeryManyStacks) {
  SharedFrames stacks;
  std::vector<std::vector<std::uint32_t>> added = {{}};
  for (std::uint32_t rank = 1; rank <= 20'000; ++rank) {
    added.push_back({rank, rank % 7, rank * 7919 % 5000, rank % 3, 99});
    const SharedFrames::Shared shared = stacks.add(rank, stack_of(added.back()));
    ASSERT_LT(shared.rank, rank);
    const std::vector<std::uint32_t>& other = added[shared.rank];
    for (std::size_t i = 1; i <= shared.locations; ++i) {
      ASSERT_EQ(other[other.size() - i], added.back()[added.back().size() - i]) << rank;
    }
  }
}

}  // namespace
}  // namespace hawk
