#include "userspace/tables/selection.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace hawk {
namespace {

Snapshot snapshot_of(const std::vector<Counters>& counters) {
  Snapshot snapshot;
  std::uint32_t id = 0;
  for (const Counters& one : counters) {
    snapshot.stacks.push_back({.id = static_cast<StackId>(++id), .counters = one, .frames = {}});
    snapshot.totals += one;
  }
  return snapshot;
}

std::vector<std::uint32_t> ids_of(const Snapshot& snapshot, const Selection& selection) {
  std::vector<std::uint32_t> ids;
  for (const StackRecord* stack : select_stacks(snapshot, selection))
    ids.push_back(static_cast<std::uint32_t>(stack->id));
  return ids;
}

using Ids = std::vector<std::uint32_t>;

// allocated bytes, allocated count, freed bytes, freed count; live is the difference.
Snapshot sample() {
  return snapshot_of({{1000, 10, 900, 1},        // live 100 in 9
                      {500, 100, 0, 0},          // live 500 in 100
                      {5000, 5, 4700, 4},        // live 300 in 1
                      {2000, 200, 2000, 200}});  // live 0 in 0
}

TEST(Selection, EachKeyOrdersByItsOwnValue) {
  const Snapshot snapshot = sample();
  EXPECT_EQ(ids_of(snapshot, {SortKey::kLive, 0, 0}), (Ids{2, 3, 1, 4}));
  EXPECT_EQ(ids_of(snapshot, {SortKey::kLiveCount, 0, 0}), (Ids{2, 1, 3, 4}));
  EXPECT_EQ(ids_of(snapshot, {SortKey::kAllocated, 0, 0}), (Ids{3, 4, 1, 2}));
  EXPECT_EQ(ids_of(snapshot, {SortKey::kAllocatedCount, 0, 0}), (Ids{4, 2, 1, 3}));
  EXPECT_EQ(ids_of(snapshot, {SortKey::kFreedCount, 0, 0}), (Ids{4, 3, 1, 2}));
}

TEST(Selection, TiesAreOrderedById) {
  Snapshot snapshot = snapshot_of({{8, 1, 0, 0}, {8, 1, 0, 0}, {8, 1, 0, 0}});
  std::swap(snapshot.stacks[0], snapshot.stacks[2]);
  EXPECT_EQ(ids_of(snapshot, {SortKey::kLive, 0, 0}), (Ids{1, 2, 3}));
}

TEST(Selection, TopCutsAndZeroMeansAll) {
  const Snapshot snapshot = sample();
  EXPECT_EQ(ids_of(snapshot, {SortKey::kLive, 2, 0}), (Ids{2, 3}));
  EXPECT_EQ(ids_of(snapshot, {SortKey::kLive, 4, 0}).size(), 4U);
  EXPECT_EQ(ids_of(snapshot, {SortKey::kLive, 9, 0}).size(), 4U);
  EXPECT_EQ(ids_of(snapshot, {SortKey::kLive, 0, 0}).size(), 4U);
  EXPECT_EQ(Selection{}.top, 10U);
}

TEST(Selection, MinSizeIsOfLiveBytesOrOfAllocatedOnes) {
  const Snapshot snapshot = sample();
  EXPECT_EQ(ids_of(snapshot, {SortKey::kLive, 0, 300}), (Ids{2, 3})) << "300 itself is enough";
  EXPECT_EQ(ids_of(snapshot, {SortKey::kLiveCount, 0, 301}), (Ids{2}));
  EXPECT_EQ(ids_of(snapshot, {SortKey::kAllocated, 0, 2000}), (Ids{3, 4}));
  EXPECT_EQ(ids_of(snapshot, {SortKey::kFreedCount, 0, 1000}), (Ids{4, 3, 1}));
  EXPECT_EQ(ids_of(snapshot, {SortKey::kLive, 1, 300}), (Ids{2})) << "filtered first, then cut";
}

TEST(Selection, EveryCutIsTheBeginningOfTheWholeOrder) {
  std::vector<Counters> counters;
  for (std::uint64_t i = 0; i < 200; ++i) counters.push_back({i * 7919 % 50, 1, 0, 0});  // many ties
  const Snapshot snapshot = snapshot_of(counters);
  const Ids whole = ids_of(snapshot, {SortKey::kLive, 0, 0});
  ASSERT_EQ(whole.size(), 200U);
  for (const std::size_t top : {1U, 2U, 10U, 37U, 199U, 200U, 300U}) {
    const Ids cut = ids_of(snapshot, {SortKey::kLive, top, 0});
    ASSERT_EQ(cut.size(), std::min<std::size_t>(top, 200));
    EXPECT_TRUE(std::equal(cut.begin(), cut.end(), whole.begin())) << top;
  }
}

TEST(Selection, ThoseThatComeOneByOneAreCutToTheSame) {
  constexpr std::size_t kStacks = 1000;
  std::vector<StackRecord> records(kStacks);
  std::vector<ValuedStack> all;
  for (std::size_t i = 0; i < kStacks; ++i) {
    records[i].id = StackId(i);
    all.push_back({.value = i * 7919 % 331, .stack = &records[i]});  // each value three times
  }
  for (const std::size_t top : {0u, 1u, 5u, 300u, 999u, 1000u, 5000u}) {
    LeadingStacks cut(top);
    for (const ValuedStack& stack : all) cut.add(stack);
    EXPECT_EQ(cut.added(), kStacks);
    std::vector<ValuedStack> left = cut.take();
    EXPECT_LE(left.size(), top == 0 ? kStacks : std::max<std::size_t>(top, 2 * top + 64));
    std::vector<const StackRecord*> kept, expected;
    keep_top(std::move(left), kept, top);
    keep_top(all, expected, top);
    EXPECT_EQ(kept, expected) << top;
  }
}

TEST(Selection, NothingSelectsNothing) {
  EXPECT_TRUE(select_stacks(Snapshot(), {}).empty());
  EXPECT_TRUE(ids_of(sample(), {SortKey::kLive, 0, 1'000'000}).empty());
}

TEST(Selection, NamesParseBack) {
  for (const SortKey key :
       {SortKey::kLive, SortKey::kLiveCount, SortKey::kAllocated, SortKey::kAllocatedCount, SortKey::kFreedCount}) {
    EXPECT_EQ(parse_sort_key(sort_key_name(key)), key);
  }
  EXPECT_EQ(parse_sort_key("live-count"), SortKey::kLiveCount);
  for (const char* text : {"", "Live", "live ", "lives", "freed"})
    EXPECT_EQ(parse_sort_key(text), std::nullopt) << text;
}

}  // namespace
}  // namespace hawk
