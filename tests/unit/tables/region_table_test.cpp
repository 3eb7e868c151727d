// The table of regions, fed with changes in the kernel's order.
#include "userspace/tables/region_table.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace hawk {
namespace {

constexpr RegionOwner kFirst = {.stack = 1, .kind = RegionKind::kAnonymous, .origin = RegionOrigin::kProgram};
constexpr RegionOwner kSecond = {.stack = 2, .kind = RegionKind::kAnonymous, .origin = RegionOrigin::kProgram};
constexpr RegionOwner kOlder = {.stack = 0, .kind = RegionKind::kFile, .origin = RegionOrigin::kOlder};

RegionCounters of(const RegionTable& table, const RegionOwner& owner) {
  const auto found = table.owners().find(owner);
  return found != table.owners().end() ? found->second : RegionCounters();
}

TEST(AddressSet, JoinsWhatTouches) {
  AddressSet set;
  set.add({10, 20});
  set.add({30, 40});
  set.add({20, 30});
  set.add({5, 5});
  const std::vector<AddressRange> missing = set.missing_of({0, 50});
  ASSERT_EQ(missing.size(), 2u);
  EXPECT_EQ(missing[0].start, 0u);
  EXPECT_EQ(missing[0].end, 10u);
  EXPECT_EQ(missing[1].start, 40u);
  EXPECT_EQ(missing[1].end, 50u);
}

TEST(RegionTable, UnmapsInTheMiddleAndAtBothEnds) {
  RegionTable table;
  table.map({100, 200}, kFirst);
  table.unmap({0, 110});
  table.unmap({190, 300});
  table.unmap({140, 150});
  EXPECT_EQ(of(table, kFirst), (RegionCounters{100, 1, 30, 2}));
  table.unmap({0, ~std::uint64_t{0}});
  EXPECT_EQ(of(table, kFirst), (RegionCounters{100, 1, 100, 0}));
}

TEST(RegionTable, OfAMergedMappingOnlyWhatIsNewIsTheCallers) {
  RegionTable table;
  table.map({100, 200}, kFirst);
  table.map({100, 300}, kSecond);
  EXPECT_EQ(of(table, kFirst), (RegionCounters{100, 1, 0, 1}));
  EXPECT_EQ(of(table, kSecond), (RegionCounters{100, 1, 0, 1}));
  table.map({50, 300}, kSecond);
  EXPECT_EQ(of(table, kSecond), (RegionCounters{150, 2, 0, 2}));
  table.map({50, 300}, kSecond);
  EXPECT_EQ(of(table, kSecond), (RegionCounters{150, 2, 0, 2})) << "nothing was new";
}

TEST(RegionTable, WhatOneOwnerMapsSideBySideIsOneRegion) {
  RegionTable table;
  table.map({100, 200}, kFirst);
  table.map({200, 300}, kFirst);
  table.map({0, 100}, kFirst);
  table.map({400, 500}, kFirst);
  table.map({300, 400}, kFirst);
  EXPECT_EQ(of(table, kFirst), (RegionCounters{500, 5, 0, 1}));
}

TEST(RegionTable, AStackGrowsForItsOwner) {
  RegionTable table;
  table.grow({900, 1000}, kOlder);
  table.grow({800, 1000}, kSecond);
  EXPECT_EQ(of(table, kOlder), (RegionCounters{200, 2, 0, 1}));
  EXPECT_EQ(of(table, kSecond), RegionCounters());
}

TEST(RegionTable, ACopyIsOlderThanItsProcess) {
  RegionTable table = RegionTable::of_announced();
  table.map({100, 200}, kFirst);
  const RegionTable copy = table.copied();
  const RegionOwner inherited = {.stack = 0, .kind = RegionKind::kAnonymous, .origin = RegionOrigin::kOlder};
  EXPECT_EQ(of(copy, inherited), (RegionCounters{100, 1, 0, 1}));
  EXPECT_TRUE(copy.is_settled());
  table.unsettle();
  EXPECT_FALSE(table.copied().is_settled());
}

TEST(RegionTable, IsSettledByAListWhereNothingWasAnnounced) {
  RegionTable table;
  table.add_older({{{100, 200}, RegionKind::kFile}, {{1000, 1100}, RegionKind::kFile}});
  table.map({300, 400}, kFirst);
  table.unmap({150, 200});
  // 100 to 150 was there before; 1000 to 1100 is not any more, and was never announced; 500 to 600 neither.
  table.settle({{{100, 200}, RegionKind::kFile}, {{500, 600}, RegionKind::kFile}});
  EXPECT_TRUE(table.is_settled());
  EXPECT_EQ(of(table, kOlder).live_bytes(), 150u);
  EXPECT_EQ(of(table, kFirst).live_bytes(), 100u);
  table.unsettle();
  table.settle({{{100, 150}, RegionKind::kFile}});
  EXPECT_EQ(of(table, kOlder).live_bytes(), 50u);
  EXPECT_EQ(of(table, kFirst).live_bytes(), 0u);
}

/// Against a table that has every address: changes at random.
TEST(RegionTable, AgreesWithATableOfAddresses) {
  constexpr std::size_t kAddresses = 64;
  std::array<std::optional<RegionOwner>, kAddresses> addresses{};
  std::map<RegionOwner, RegionCounters> owners;
  RegionTable table;
  std::uint32_t seed = 1;
  const auto random = [&] { return (seed = seed * 1664525 + 1013904223) >> 16; };
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t start = random() % kAddresses, end = start + random() % (kAddresses - start + 1);
    const RegionOwner owner = {.stack = random() % 4, .kind = RegionKind::kAnonymous, .origin = RegionOrigin::kProgram};
    const bool maps = random() % 2 == 0;
    bool any = false;
    for (std::uint64_t at = start; at < end; ++at) {
      if (maps == addresses[at].has_value()) continue;
      if (maps) {
        addresses[at] = owner;
        ++owners[owner].mapped_bytes;
        any = true;
      } else {
        ++owners[*addresses[at]].unmapped_bytes;
        addresses[at].reset();
      }
    }
    if (any) ++owners[owner].mapped_count;
    if (maps) {
      table.map({start, end}, owner);
    } else {
      table.unmap({start, end});
    }
    for (auto& [known, counters] : owners) {
      counters.regions = 0;
      for (std::size_t at = 0; at < kAddresses; ++at) {
        const bool begins = addresses[at] == known && (at == 0 || addresses[at - 1] != known);
        if (begins) ++counters.regions;
      }
    }
    for (const auto& [known, counters] : table.owners()) ASSERT_EQ(counters, owners[known]) << i;
    ASSERT_GE(owners.size(), table.owners().size());
  }
}

}  // namespace
}  // namespace hawk
