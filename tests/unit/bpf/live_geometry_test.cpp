// Which page holds an address: what every look-up and every step of growth rests on.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <map>
#include <ostream>
#include <random>
#include <set>
#include <vector>

#include "bpf/live/bucket.h"
#include "bpf/live/geometry.h"
#include "tests/unit/bpf/host_arena.h"

namespace hawk {
namespace {

/// Pages of the largest table that the header speaks of.
constexpr __u32 kMostPages = (1U << HAWK_SETS_LOG2_MOST) * HAWK_SET_PAGES_MOST;

bool same(hawk_geometry a, hawk_geometry b) { return hawk_geometry_pack(a) == hawk_geometry_pack(b); }

/// The geometry of a table with so many pages.
hawk_geometry geometry_with(__u32 pages) {
  hawk_geometry g = hawk_geometry_start();
  while (hawk_geometry_pages(g) < pages) g = hawk_geometry_grown(g);
  return g;
}

/// Hashes as good as any, and those whose bits are all alike.
std::vector<__u64> some_hashes(std::size_t count) {
  std::mt19937_64 random(7);
  std::vector<__u64> hashes = {0, ~0ULL, 1ULL << 63, ~0ULL >> 1, 0xffffffffULL, ~0ULL << 32};
  while (hashes.size() < count) hashes.push_back(random());
  return hashes;
}

/// Whether each number below hawk_geometry_pages(g) is a page of exactly one set.
bool is_without_gaps(hawk_geometry g) {
  std::vector<int> seen(hawk_geometry_pages(g));
  std::size_t pages = 0;
  for (__u32 set = 0; set < 1U << g.sets_log2; ++set) {
    const __u32 in_set = g.set_pages + (set < g.next ? 1U : 0U);
    for (__u32 position = 0; position < in_set; ++position, ++pages) {
      const __u32 number = hawk_page_of_set(set, position, g.sets_log2);
      if (number >= seen.size() || seen[number]++ != 0) return false;
    }
  }
  return pages == seen.size();
}

TEST(LiveGeometry, BeginsWithTheSmallestTable) {
  EXPECT_EQ(hawk_geometry_pages(hawk_geometry_start()), HAWK_SET_PAGES_LEAST << HAWK_SETS_LOG2_LEAST);
}

TEST(LiveGeometry, PagesAreNumberedWithoutGaps) {
  // All the steps of five doublings, so that every number of pages per set occurs at several numbers of sets.
  for (hawk_geometry g = hawk_geometry_start(); hawk_geometry_pages(g) <= 1024; g = hawk_geometry_grown(g)) {
    ASSERT_TRUE(is_without_gaps(g)) << hawk_geometry_pages(g) << " pages";
  }
}

TEST(LiveGeometry, EachStepAddsOnePageAndCanBeUndone) {
  hawk_geometry g = hawk_geometry_start();
  for (__u32 pages = hawk_geometry_pages(g); pages <= kMostPages; ++pages) {
    ASSERT_EQ(hawk_geometry_pages(g), pages);
    ASSERT_GE(g.set_pages, static_cast<__u32>(HAWK_SET_PAGES_LEAST));
    ASSERT_LT(g.set_pages, static_cast<__u32>(HAWK_SET_PAGES_MOST));
    ASSERT_LT(g.next, 1U << g.sets_log2);
    ASSERT_TRUE(same(hawk_geometry_unpack(hawk_geometry_pack(g)), g)) << pages;
    const hawk_geometry grown = hawk_geometry_grown(g);
    ASSERT_TRUE(same(hawk_geometry_shrunk(grown), g)) << pages;
    g = grown;
  }
}

TEST(LiveGeometry, PositionsAreWithinTheSetAtEachOfItsSizes) {
  for (const __u64 hash : some_hashes(2000)) {
    for (__u32 sets_log2 = HAWK_SETS_LOG2_LEAST; sets_log2 <= HAWK_SETS_LOG2_MOST + 1; ++sets_log2) {
      for (__u32 pages = HAWK_SET_PAGES_LEAST; pages <= HAWK_SET_PAGES_MOST; ++pages) {
        ASSERT_LT(hawk_position_in_set(hash, sets_log2, pages), pages) << hash << " in " << sets_log2;
      }
    }
  }
}

TEST(LiveGeometry, PagesAreWithinTheTable) {
  for (hawk_geometry g = hawk_geometry_start(); hawk_geometry_pages(g) <= 600; g = hawk_geometry_grown(g)) {
    for (const __u64 hash : some_hashes(200)) ASSERT_LT(hawk_page_number(hash, g), hawk_geometry_pages(g));
  }
}

/// Expects that a step moves addresses of its own set only, and within that set. Returns how many it moves.
std::size_t expect_step_keeps_to_its_set(hawk_geometry g, const std::vector<__u64>& hashes) {
  const hawk_geometry grown = hawk_geometry_grown(g);
  const __u32 sets_mask = (1U << g.sets_log2) - 1;
  std::size_t moved = 0;
  for (const __u64 hash : hashes) {
    const __u32 before = hawk_page_number(hash, g);
    const __u32 after = hawk_page_number(hash, grown);
    if (hawk_set_of(hash, g) == g.next) {
      EXPECT_EQ(before & sets_mask, g.next);
      EXPECT_EQ(after & sets_mask, g.next);
      // Where the step itself puts it (hawk_empty_misplaced).
      EXPECT_EQ(after >> g.sets_log2, hawk_position_in_set(hash, g.sets_log2, g.set_pages + 1));
    } else {
      EXPECT_EQ(before, after);
    }
    moved += before != after ? 1 : 0;
  }
  return moved;
}

TEST(LiveGeometry, AStepMovesAddressesOfItsSetOnly) {
  const std::vector<__u64> hashes = some_hashes(4000);
  std::size_t moved = 0;
  for (hawk_geometry g = hawk_geometry_start(); hawk_geometry_pages(g) < 300; g = hawk_geometry_grown(g)) {
    moved += expect_step_keeps_to_its_set(g, hashes);
    ASSERT_FALSE(HasFailure()) << "the step from " << hawk_geometry_pages(g) << " pages";
  }
  EXPECT_GT(moved, hashes.size()) << "the steps move something at all";
}

/// The step after which sets of 8 pages are counted as twice as many sets of 4, at every size of the table.
TEST(LiveGeometry, DoublingTheSetsMovesNothingElse) {
  const std::vector<__u64> hashes = some_hashes(20000);
  for (__u32 log2 = HAWK_SETS_LOG2_LEAST; log2 <= HAWK_SETS_LOG2_MOST; ++log2) {
    const hawk_geometry last = {.sets_log2 = log2, .set_pages = HAWK_SET_PAGES_MOST - 1, .next = (1U << log2) - 1};
    EXPECT_TRUE(same(hawk_geometry_grown(last), {.sets_log2 = log2 + 1, .set_pages = HAWK_SET_PAGES_LEAST, .next = 0}));
    expect_step_keeps_to_its_set(last, hashes);
  }
}

/// Half of a set's blocks have another page when it has four more than before: not many more are moved on the way
/// there.
TEST(LiveGeometry, AStepMovesAFifthOfItsSet) {
  const std::vector<__u64> hashes = some_hashes(100000);
  const std::array<double, HAWK_SET_PAGES_MOST - HAWK_SET_PAGES_LEAST> expected = {0.1875, 0.211, 0.1875, 0.172};
  for (__u32 step = 0; step < expected.size(); ++step) {
    const __u32 pages = HAWK_SET_PAGES_LEAST + step;
    const auto moves = [pages](__u64 hash) {
      return hawk_position_in_set(hash, 5, pages) != hawk_position_in_set(hash, 5, pages + 1);
    };
    const auto moved = static_cast<double>(std::count_if(hashes.begin(), hashes.end(), moves));
    EXPECT_NEAR(moved / static_cast<double>(hashes.size()), expected.at(step), 0.006) << "from " << pages << " pages";
  }
}

/// How addresses are handed out: the distance between blocks that follow each other.
class LiveGeometrySpread : public ::testing::TestWithParam<__u64> {};

/// The share of its set's addresses that a page has.
double share_of(__u32 position, __u32 set_pages) {
  constexpr __u64 kSixteenths = 16, kRows = HAWK_SET_PAGES_MOST;
  int found = 0;
  for (__u64 row = 0; row < kRows; ++row) {
    for (__u64 sixteenth = 0; sixteenth < kSixteenths; ++sixteenth) {
      found += hawk_position_in_set(sixteenth << 60 | row << 5, 5, set_pages) == position ? 1 : 0;
    }
  }
  return static_cast<double>(found) / (kSixteenths * kRows);
}

TEST(LiveGeometry, ThePagesOfASetHaveNearlyEqualShares) {
  for (__u32 pages = HAWK_SET_PAGES_LEAST; pages <= HAWK_SET_PAGES_MOST; ++pages) {
    for (__u32 position = 0; position < pages; ++position) {
      EXPECT_GE(share_of(position, pages) * pages, 15.0 / 16) << position << " of " << pages;
      EXPECT_LE(share_of(position, pages) * pages, 1.04) << position << " of " << pages;
    }
  }
}

/// Expects that what falls on a page is its share of its set, within five standard deviations, and within a tenth in
/// any case. `together`: so many blocks are always in one page.
void expect_even(const std::vector<std::size_t>& found, hawk_geometry g, double blocks, double together) {
  for (std::size_t page = 0; page < found.size(); ++page) {
    const __u32 set = static_cast<__u32>(page) & ((1U << g.sets_log2) - 1);
    const __u32 set_pages = g.set_pages + (set < g.next ? 1 : 0);
    const double share = share_of(static_cast<__u32>(page) >> g.sets_log2, set_pages);
    const double expected = blocks / (1U << g.sets_log2) * share;
    const double tolerance = std::max(5 * std::sqrt(expected * together), 0.1 * expected);
    ASSERT_NEAR(static_cast<double>(found[page]), expected, tolerance) << "page " << page << " of " << found.size();
  }
}

TEST_P(LiveGeometrySpread, IsEvenOverThePages) {
  constexpr std::size_t kBlocksPerPage = 2000;
  for (const __u32 pages : {32U, 33U, 60U, 64U, 151U, 511U}) {
    const hawk_geometry g = geometry_with(pages);
    std::vector<std::size_t> found(pages);
    for (__u64 i = 0; i < pages * kBlocksPerPage; ++i) {
      ++found[hawk_page_number(hawk_live_hash(0x7f3a5c000010 + i * GetParam(), 1025), g)];
    }
    constexpr __u64 kApart = 1 << HAWK_BLOCKS_OF_AREA_APART_LOG2;
    const double together = std::max(
        1.0, static_cast<double>(1 << HAWK_AREA_BYTES_LOG2) / static_cast<double>(std::max(GetParam(), kApart)));
    expect_even(found, g, pages * kBlocksPerPage, together);
    ASSERT_FALSE(HasFatalFailure());
  }
}

/// Buckets of a page that a block may be in are four: neighbours would fill them if they had the same.
TEST(LiveHash, NeighboursAreInOnePageAndNoTwoHaveTheSameBuckets) {
  constexpr __u64 kArea = 1 << HAWK_AREA_BYTES_LOG2, kApart = 1 << HAWK_BLOCKS_OF_AREA_APART_LOG2;
  const hawk_geometry g = geometry_with(151);
  for (__u64 area = 0x7f3a5c000000; area < 0x7f3a5c040000; area += kArea) {
    std::set<__u32> pages;
    std::map<__u32, int> homes;
    std::set<std::vector<__u32>> choices;
    for (__u64 block = area + area / kArea % 4 * 8; block < area + kArea; block += kApart) {
      const __u64 hash = hawk_live_hash(block, 1025);
      pages.insert(hawk_page_number(hash, g));
      ++homes[hawk_home_bucket(hash)];
      std::vector<__u32> own;
      for (__u32 choice = 0; choice < HAWK_BUCKET_CHOICES; ++choice) own.push_back(hawk_bucket_choice(hash, choice));
      ASSERT_TRUE(std::is_sorted(own.begin(), own.end())) << std::hex << block;
      ASSERT_TRUE(std::binary_search(own.begin(), own.end(), hawk_home_bucket(hash))) << std::hex << block;
      choices.insert(own);
    }
    const auto are_two = [](const auto& entry) { return entry.second == 2; };
    ASSERT_EQ(pages.size(), 1U) << std::hex << area;
    ASSERT_EQ(homes.size(), 4U) << std::hex << area;
    ASSERT_TRUE(std::all_of(homes.begin(), homes.end(), are_two)) << std::hex << area;
    ASSERT_EQ(choices.size(), 8U) << std::hex << area;
  }
}

TEST(LiveHash, WhatIsFetchedForAnAreaIsHomeToItsBlocks) {
  constexpr __u64 kArea = 1 << HAWK_AREA_BYTES_LOG2, kApart = 1 << HAWK_BLOCKS_OF_AREA_APART_LOG2;
  for (__u64 area = 0x7f3a5c000010; area < 0x7f3a5c020000; area += kArea) {
    const __u32 first = hawk_first_home_of_area(hawk_live_hash(area, 1025));
    for (__u64 block = area; block < area + kArea; block += kApart) {
      const __u32 home = hawk_home_bucket(hawk_live_hash(block, 1025));
      ASSERT_GE(home, first) << std::hex << block;
      ASSERT_LT(home, first + HAWK_AREA_BUCKETS) << std::hex << block;
    }
  }
}

/// Whether the last of these blocks, one after the other of a thread, has buckets fetched.
bool fetches(std::initializer_list<__u64> blocks) {
  __u64 last = 0;
  bool fetched = false;
  for (const __u64 block : blocks) {
    const __u64 now = hawk_next_in_run(last, block);
    fetched = hawk_runs_on(last, now) != 0;
    last = now;
  }
  return fetched;
}

TEST(LiveFetch, IsDoneWhenAThreadGoesOnToTheNextMemory) {
  constexpr __u64 kEdge = 0x7f3a5c000800, kStep = HAWK_RUN_STEP_BYTES;
  EXPECT_TRUE(fetches({kEdge - 48, kEdge - 16, kEdge + 16}));
  EXPECT_TRUE(fetches({kEdge + 48, kEdge + 16, kEdge - 16})) << "downwards";
  EXPECT_TRUE(fetches({kEdge - 16 - kStep, kEdge - 16, kEdge - 16 + kStep}));
  EXPECT_FALSE(fetches({kEdge - 40, kEdge - 8, kEdge + kStep})) << "too far away to be the next";
  EXPECT_FALSE(fetches({kEdge - 4096, kEdge - 16, kEdge + 16})) << "two side by side are no run";
  EXPECT_FALSE(fetches({kEdge - 48, kEdge - 16, kEdge + 16, kEdge + 48})) << "fetched before";
  EXPECT_FALSE(fetches({kEdge + 16, kEdge + 16, kEdge + 16}));
  EXPECT_FALSE(fetches({kEdge - 16, kEdge + 16})) << "the first blocks of a thread";
}

/// Areas, and the blocks between those that have their buckets together, are as independent as if they were far apart.
TEST(LiveHash, OtherNeighboursAreInPagesOfTheirOwn) {
  constexpr __u64 kArea = 1 << HAWK_AREA_BYTES_LOG2;
  const hawk_geometry g = geometry_with(512);
  std::size_t same = 0, pairs = 0;
  for (__u64 block = 0x7f3a5c000000; block < 0x7f3a5c400000; block += kArea) {
    for (const __u64 other : {block + 8, block + 16, block + 24, block + kArea, block - kArea, block + 2 * kArea}) {
      same +=
          hawk_page_number(hawk_live_hash(block, 1025), g) == hawk_page_number(hawk_live_hash(other, 1025), g) ? 1 : 0;
      ++pairs;
    }
  }
  const double expected = static_cast<double>(pairs) / 512;
  EXPECT_NEAR(static_cast<double>(same), expected, 5 * std::sqrt(expected));
}

INSTANTIATE_TEST_SUITE_P(Strides, LiveGeometrySpread, ::testing::Values(16, 32, 48, 80, 1024, 4112, 65536, 1 << 20),
                         [](const ::testing::TestParamInfo<__u64>& stride) { return std::to_string(stride.param); });

}  // namespace
}  // namespace hawk
