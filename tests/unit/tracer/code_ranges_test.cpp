// Cached rules while mappings change, one thing after the other and on threads.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "tests/unit/tracer/code_ranges_world.h"

namespace hawk {
namespace {

TEST_F(CodeRanges, KnowsNothingBeforeItIsTold) {
  map(3, 7);
  EXPECT_EQ(look_up(3), HAWK_RULE_NO_CODE);
  tell();
  EXPECT_EQ(look_up(3), HAWK_FIRST_RULE + 7);
}

TEST_F(CodeRanges, TakesRulesFromTheCache) {
  map(3, 7);
  tell();
  EXPECT_EQ(look_up(3), HAWK_FIRST_RULE + 7);
  const __u64 misses = the_target.unwind_misses;
  map(4, 8);  // the other code is where it was
  EXPECT_EQ(look_up(3), HAWK_FIRST_RULE + 7);
  EXPECT_EQ(the_target.unwind_misses, misses);
}

TEST_F(CodeRanges, ForgetsCodeThatIsMappedOver) {
  map(3, 7);
  tell();
  ASSERT_EQ(look_up(3), HAWK_FIRST_RULE + 7);
  map(3, 8);
  EXPECT_EQ(look_up(3), HAWK_RULE_NO_CODE);
  EXPECT_EQ(the_target.code_ranges_stale, 1u);
  for (int pass = 0; pass < 3; ++pass) {
    tell();
    EXPECT_EQ(the_target.code_ranges_stale, 0u);
    EXPECT_EQ(look_up(3), HAWK_FIRST_RULE + 8);
  }
}

// While user space announces others, what it said before still counts, and is looked at.
TEST_F(CodeRanges, ForgetsCodeThatIsMappedOverBeforeItIsTold) {
  map(3, 7);
  map(4, 9);
  tell();
  ASSERT_EQ(look_up(3), HAWK_FIRST_RULE + 7);
  tell();
  map(3, 8);
  EXPECT_EQ(look_up(4), HAWK_FIRST_RULE + 9);
  EXPECT_EQ(look_up(3), HAWK_RULE_NO_CODE);
}

TEST_F(CodeRanges, KeepsNoListOfMoreThanFit) {
  for (std::size_t slot = 0; slot < kSlots; ++slot) map(slot, 1);
  tell();
  for (std::size_t slot = 0; slot < kSlots; ++slot) ASSERT_EQ(look_up(slot), HAWK_FIRST_RULE + 1);
  for (std::size_t slot = 0; slot < kSlots; ++slot) {
    map(slot, 2);
    EXPECT_EQ(look_up(slot), HAWK_RULE_NO_CODE) << slot;
  }
}

// Generations repeat in the cache. A process that runs code of very many files, and whose mappings change all the time,
// gets through them without a word from user space.
TEST_F(CodeRanges, UsesNoCacheThatWasNotClearedInTime) {
  for (std::size_t slot = 0; slot < kSlots; ++slot) map(slot, 1);
  tell();
  __u32 first = 0, last = 0;
  for (__u32 round = 0; round < 2 * HAWK_CACHE_GENERATIONS; ++round) {
    ++world->changes;
    const __u32 generation = hawk_rule_generation(nullptr);
    if (generation == 0) break;
    if (first == 0) first = generation;
    last = generation;
    for (std::size_t slot = 0; slot <= HAWK_MAX_USED_RANGES; ++slot) rule_at(slot, 0, generation);
  }
  EXPECT_GT(last - first, HAWK_CACHE_GENERATIONS / 2);
  EXPECT_LT(last - first, HAWK_CACHE_GENERATIONS);
  EXPECT_EQ(the_target.code_ranges_stale, 1u);
  EXPECT_EQ(look_up(0), HAWK_FIRST_RULE + 1);  // without the cache
  tell();
  EXPECT_EQ(the_target.code_ranges_stale, 0u);
  EXPECT_NE(hawk_rule_generation(nullptr), 0u);
  for (const __u64 entry : unwind_cache) ASSERT_EQ(entry, 0u);
}

TEST_F(CodeRanges, ClearsTheCacheNowAndThen) {
  map(3, 7);
  for (__u32 pass = 0; pass < 2 * HAWK_CACHE_GENERATIONS; ++pass) {
    tell();
    ASSERT_NE(hawk_rule_generation(nullptr), 0u) << pass;
    ASSERT_EQ(look_up(3), HAWK_FIRST_RULE + 7);
  }
}

/// Does something again and again, at most once for each walk, until told to stop.
template <typename Action>
void repeat_beside_walks(const std::atomic<bool>& is_over, Action action) {
  for (__u64 seen = 0; !is_over;) {
    const __u64 walks = world->walks;
    if (walks != seen)
      action();
    else
      std::this_thread::yield();
    seen = walks;
  }
}

/// Walks through some slots at a time, out of so many.
class Walker {
 public:
  Walker(unsigned seed, std::size_t slots) : slots_(slots), random_(seed) {}

  void walk() {
    std::size_t slot = random_() % slots_;
    std::vector<std::size_t> frames;
    for (int frame = 0; frame < 3 && slot < slots_; ++frame, slot += 1 + random_() % 3) {
      if (world->use(slot)) frames.push_back(slot);
    }
    const __u32 generation = hawk_rule_generation(nullptr);
    for (const std::size_t frame : frames) found.look_up(frame, random_() % 8, generation);
    for (const std::size_t frame : frames) world->leave(frame);
    ++world->walks;
  }

  Found found;

 private:
  std::size_t slots_;
  std::minstd_rand random_;
};

/// A few slots, which are all in the list of those in use, or more.
class CodeRangesOnThreads : public CodeRanges, public ::testing::WithParamInterface<std::size_t> {};

TEST_P(CodeRangesOnThreads, NeverUsesARuleOfOtherCode) {
  constexpr int kWalks = 20'000;
  constexpr __u64 kRight = kWalks / 10;
  constexpr __u32 kChanges = 300;
  constexpr __u64 kFiles = 1000;
  for (std::size_t slot = 0; slot < kSlots; ++slot) map(slot, 1 + slot);
  std::atomic<bool> is_over{false};
  std::minstd_rand random(1);
  std::thread mapper([&] {
    repeat_beside_walks(is_over, [&] { map(random() % GetParam(), random() % 8 == 0 ? 0 : 1 + random() % kFiles); });
  });
  std::thread teller([&] { repeat_beside_walks(is_over, [&] { tell(); }); });
  std::array<Walker, 2> walkers{Walker(2, GetParam()), Walker(3, GetParam())};
  std::vector<std::thread> walking;
  for (Walker& walker : walkers) {
    walking.emplace_back([&walker] {
      // On a busy machine updates may be late for most of the walks: then there are more walks.
      const auto has_found_enough = [&] { return walker.found.right > kRight && walker.found.unknown > 0; };
      for (int i = 0; i < kWalks || world->changes < kChanges || !has_found_enough(); ++i) walker.walk();
    });
  }
  for (std::thread& thread : walking) thread.join();
  is_over = true;
  mapper.join();
  teller.join();
  for (const Walker& walker : walkers) {
    EXPECT_EQ(walker.found.wrong, 0u) << "of " << walker.found.right + walker.found.wrong + walker.found.unknown;
    EXPECT_GT(walker.found.right, kRight);
    EXPECT_GT(walker.found.unknown, 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(, CodeRangesOnThreads, ::testing::Values(20, kSlots));

}  // namespace
}  // namespace hawk
