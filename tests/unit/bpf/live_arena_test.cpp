// The arena's live table under threads, against a std::map of each thread.

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "tests/unit/bpf/live_arena_world.h"

namespace hawk {
namespace {

TEST_F(LiveArena, GivesBackWhatWasPutIn) {
  const __u64 address = 0x7f1234567890;
  const __u32 last = HAWK_SLOT_STACK_MASK;
  const hawk_block block = {.size_bytes = 0xfffff0, .stack = last, .program = hawk_program_of_stack(last), .born = 0};
  EXPECT_EQ(insert(address, block), HAWK_INSERTED);
  const hawk_block taken = take(address, block.program);
  EXPECT_EQ(taken.size_bytes, block.size_bytes);
  EXPECT_EQ(taken.stack, block.stack);
  EXPECT_EQ(take(address, block.program).size_bytes, ~0ULL);
}

// Each slot beside full ones, whose bits must not show through, nor its own in theirs.
TEST(LiveSlots, KeepEveryBitOfABlock) {
  std::mt19937_64 random(29);
  const auto any = [&](__u64 most) { return static_cast<__u32>(random() & most); };
  for (int round = 0; round < 10000; ++round) {
    hawk_bucket bucket;
    std::memset(&bucket, round % 2 == 0 ? 0xff : 0, sizeof(bucket));
    std::array<hawk_slot, HAWK_BUCKET_SLOTS> put = {};
    for (__u32 at = 0; at < HAWK_BUCKET_SLOTS; ++at) {
      put[at] = {.low = any(~0U),
                 .size_bytes = any(HAWK_SLOT_SIZE_MASK),
                 .high_and_stack = any(~0U),
                 .born = any(HAWK_STAMP_MOST)};
      hawk_put(&bucket, at, &put[at]);
    }
    for (__u32 at = 0; at < HAWK_BUCKET_SLOTS; ++at) {
      hawk_slot got = {};
      hawk_get(&bucket, at, &got);
      ASSERT_EQ(std::memcmp(&got, &put[at], sizeof(got)), 0);
    }
    ASSERT_EQ(bucket.lock_and_displaced, round % 2 == 0 ? 0xff : 0);
    ASSERT_EQ(bucket.touched, bucket.lock_and_displaced);
  }
}

TEST_F(LiveArena, TellsThatALockWasNotToBeHad) {
  const __u64 address = 0x7f1234567890;
  ASSERT_EQ(insert(address, block_of(address)), HAWK_INSERTED);
  hawk_request request = hawk_take_of(address, 0);
  hawk_bucket* home = &hawk_page_at(request.hash, header_->geometry)->buckets[hawk_home_bucket(request.hash)];
  host_arena::lock_attempts = 10;
  home->lock_and_displaced |= HAWK_LOCKED;
  hawk_do(&request);
  EXPECT_EQ(request.result, HAWK_TAKE_TIMEOUT) << "it may be there";
  EXPECT_EQ(insert(address, block_of(address)), HAWK_LOCK_TIMEOUT);
  home->lock_and_displaced &= HAWK_DISPLACED_MASK;
  host_arena::lock_attempts = ~0U;
  EXPECT_EQ(take(address).size_bytes, block_of(address).size_bytes);
  EXPECT_EQ(take(address).size_bytes, ~0ULL);
}

TEST_F(LiveArena, ReplacesAnAddressThatIsThere) {
  const __u64 address = 0x55aa00001238;
  ASSERT_EQ(insert(address, {.size_bytes = 1, .stack = 4, .program = 0, .born = 0}), HAWK_INSERTED);
  EXPECT_EQ(insert(address, {.size_bytes = 2, .stack = 5, .program = 0, .born = 0}), HAWK_REPLACED);
  EXPECT_EQ(population(), 1);
  EXPECT_EQ(take(address).size_bytes, 2U);
}

/// A block of a program, by whose stacks the table knows whose it is.
hawk_block block_of_program(__u32 program, __u64 number) {
  return {.size_bytes = number + program,
          .stack = program * host_arena::kProgramStacks + static_cast<__u32>(number % 1000),
          .program = program,
          .born = 0};
}

bool is_done_at_once(hawk_request& request) {
  const hawk_home home = hawk_home_of(request.hash);
  return hawk_do_at_once(&request, &home) != 0;
}

/// Addresses with the same home.
std::vector<__u64> addresses_at_home_of(__u64 address, std::size_t count, __u64 geometry) {
  const auto home_of = [geometry](__u64 of) {
    const __u64 hash = hawk_live_hash(of, 0);
    return &hawk_page_at(hash, geometry)->buckets[hawk_home_bucket(hash)];
  };
  std::vector<__u64> found;
  for (__u64 other = address; found.size() < count; other += 16) {
    if (home_of(other) == home_of(address)) found.push_back(other);
  }
  return found;
}

TEST_F(LiveArena, ABlockBesideItsFullHomeIsFoundWhenThereIsRoomAgain) {
  const std::vector<__u64> addresses = addresses_at_home_of(0x55aa00001010, HAWK_BUCKET_SLOTS + 1, header_->geometry);
  for (const __u64 address : addresses) {
    hawk_block block = block_of(address);
    hawk_request request = hawk_insertion_of(hawk_live_hash(address, block.program), address, &block);
    ASSERT_TRUE(is_done_at_once(request)) << "none of them takes all locks";
  }
  const __u64 beside = addresses.back();
  ASSERT_EQ(take(addresses.front()).size_bytes, block_of(addresses.front()).size_bytes);
  EXPECT_EQ(insert(beside, block_of(beside)), HAWK_REPLACED) << "not once more in its home";
  EXPECT_EQ(population(), HAWK_BUCKET_SLOTS);
  EXPECT_EQ(insert(addresses.front(), block_of(addresses.front())), HAWK_INSERTED);
  for (const __u64 address : addresses) EXPECT_EQ(take(address).size_bytes, block_of(address).size_bytes);
  EXPECT_EQ(take(beside).size_bytes, ~0ULL);
  EXPECT_EQ(population(), 0);
}

/// Locks are waited for in ascending order alone.
TEST_F(LiveArena, ABlockWhoseHomeIsFullDoesNotWaitBeside) {
  const std::vector<__u64> addresses = addresses_at_home_of(0x55aa00001010, HAWK_BUCKET_SLOTS + 1, header_->geometry);
  for (const __u64 address : addresses) {
    hawk_block block = block_of(address);
    hawk_request request = hawk_insertion_of(hawk_live_hash(address, block.program), address, &block);
    hawk_page_ref page = hawk_page_at(request.hash, header_->geometry);
    if (address != addresses.back()) {
      ASSERT_TRUE(is_done_at_once(request));
      continue;
    }
    const __u32 home = hawk_home_bucket(request.hash);
    const auto turn_locks = [&] {
      for (__u32 choice = 0; choice < HAWK_BUCKET_CHOICES; ++choice) {
        const __u32 other = hawk_bucket_choice(request.hash, choice);
        if (other != home) page->buckets[other].lock_and_displaced ^= HAWK_LOCKED;
      }
    };
    turn_locks();
    EXPECT_FALSE(is_done_at_once(request));
    turn_locks();
    EXPECT_EQ(insert(address, block), HAWK_INSERTED);
    EXPECT_EQ(page->buckets[home].lock_and_displaced, 1);
  }
}

/// What is beside its home is found and taken without all locks, unless another has the one of its bucket.
TEST_F(LiveArena, ABlockBesideItsHomeIsTakenAtOnce) {
  const std::vector<__u64> addresses = addresses_at_home_of(0x55aa00001010, HAWK_BUCKET_SLOTS + 2, header_->geometry);
  const __u64 absent = addresses.back(), beside = addresses.at(HAWK_BUCKET_SLOTS);
  for (const __u64 address : addresses) {
    if (address == absent) continue;
    ASSERT_EQ(insert(address, block_of(address)), HAWK_INSERTED);
  }
  hawk_request none = hawk_take_of(absent, 0);
  EXPECT_TRUE(is_done_at_once(none));
  EXPECT_EQ(none.result, static_cast<__u32>(HAWK_NOT_THERE));

  hawk_request request = hawk_take_of(beside, 0);
  hawk_page_ref page = hawk_page_at(request.hash, header_->geometry);
  hawk_bucket& home = page->buckets[hawk_home_bucket(request.hash)];
  const auto holds_it = [&](hawk_bucket& bucket) { return hawk_has_low(&bucket, request.slot.low) != 0; };
  hawk_bucket& other = *std::find_if(std::begin(page->buckets), std::end(page->buckets), holds_it);
  ASSERT_NE(&other, &home);
  other.lock_and_displaced ^= HAWK_LOCKED;
  EXPECT_FALSE(is_done_at_once(request)) << "locks are waited for in ascending order alone";
  other.lock_and_displaced ^= HAWK_LOCKED;
  EXPECT_EQ(home.lock_and_displaced, 1);

  ASSERT_TRUE(is_done_at_once(request));
  EXPECT_EQ(request.result, static_cast<__u32>(HAWK_TAKEN));
  EXPECT_EQ(request.found.size_bytes, block_of(beside).size_bytes);
  EXPECT_EQ(home.lock_and_displaced, 0);
  EXPECT_EQ(other.lock_and_displaced, 0);
  EXPECT_EQ(population(), HAWK_BUCKET_SLOTS);
}

/// A block of another program that has the address beside the same home is not the one.
TEST_F(LiveArena, ABlockBesideItsHomeOfAnotherProgramIsNotTaken) {
  const std::vector<__u64> addresses = addresses_at_home_of(0x55aa00001010, HAWK_BUCKET_SLOTS + 1, header_->geometry);
  for (const __u64 address : addresses) ASSERT_EQ(insert(address, block_of(address)), HAWK_INSERTED);
  const __u64 beside = addresses.back();
  hawk_request request = hawk_take_of(beside, 0);
  request.program = 1;
  EXPECT_FALSE(is_done_at_once(request)) << "all of them are looked at";
  hawk_do_slowly(&request);
  EXPECT_EQ(request.result, static_cast<__u32>(HAWK_NOT_THERE));
  EXPECT_EQ(take(beside).size_bytes, block_of(beside).size_bytes);
}

TEST_F(LiveArena, ProgramsHaveTheSameAddressesAndTheirOwnBlocks) {
  constexpr __u64 kBlocks = 100'000;
  for (__u64 i = 1; i <= kBlocks; ++i) {
    for (const __u32 program : {0U, 1U, 2U})
      ASSERT_EQ(insert(0x7f0000000000 + i * 48, block_of_program(program, i)), HAWK_INSERTED);
  }
  host_arena::spilled.clear();  // by address alone: see below
  __u64 found = 0;
  for (__u64 i = 1; i <= kBlocks; ++i) {
    for (const __u32 program : {2U, 0U, 1U}) {
      const hawk_block block = take(0x7f0000000000 + i * 48, program);
      if (block.size_bytes == ~0ULL) continue;
      ++found;
      ASSERT_EQ(block.size_bytes, i + program);
      ASSERT_EQ(block.stack / host_arena::kProgramStacks, program);
    }
  }
  EXPECT_GT(found, 3 * kBlocks * 99 / 100) << "a few had no room";
  EXPECT_EQ(population(), 0);
}

// So few buckets that the same address of many programs meets in one.
TEST_F(LiveArena, ABlockOfAnotherProgramAtTheAddressIsLeftAlone) {
  const __u64 address = 0x7f1234567890;
  hawk_bucket bucket = {};
  for (const __u32 program : {0U, 1U, 2U, 3U}) {
    const hawk_block block = block_of_program(program, 7);
    const hawk_slot slot = hawk_slot_pack(address, &block);
    hawk_put(&bucket, program, &slot);
  }
  hawk_request request = hawk_take_of(address, 2);
  EXPECT_EQ(hawk_take_at_home(&bucket, &request), 0) << "others are there too: the long way decides";
  EXPECT_EQ(hawk_search_in(&bucket, &request), 1U << 2);
  request = hawk_take_of(address, 5);
  EXPECT_EQ(hawk_search_in(&bucket, &request), 0U);
}

TEST_F(LiveArena, SweepsTheBlocksOfAProgramThatHasEnded) {
  constexpr __u64 kBlocks = 200'000;
  for (__u64 i = 1; i <= kBlocks; ++i) {
    for (const __u32 program : {0U, 1U})
      ASSERT_EQ(insert(0x7f0000000000 + i * 48, block_of_program(program, i)), HAWK_INSERTED);
  }
  const auto spilled = static_cast<__s64>(host_arena::spilled.size());
  host_arena::ended = 1;
  hawk_sweep_all();
  host_arena::spilled.clear();
  EXPECT_LE(population(), static_cast<__s64>(kBlocks));
  EXPECT_GE(population(), static_cast<__s64>(kBlocks) - spilled);
  for (__u64 i = 1; i <= kBlocks; i += 97) EXPECT_EQ(take(0x7f0000000000 + i * 48, 1).size_bytes, ~0ULL);
}

TEST_F(LiveArena, StepsDropTheBlocksOfAProgramThatHasEnded) {
  constexpr __u64 kBlocks = 200'000;
  for (__u64 i = 1; i <= kBlocks; ++i)
    ASSERT_EQ(insert(0x7f0000000000 + i * 48, block_of_program(1, i)), HAWK_INSERTED);
  host_arena::ended = 1;
  const __u32 before = pages_used();
  for (__u64 i = 1; i <= 2 * kBlocks; ++i)
    ASSERT_EQ(insert(0x7e0000000000 + i * 48, block_of_program(0, i)), HAWK_INSERTED);
  EXPECT_LT(pages_used(), 5 * before / 2) << "there were never more than the living have and what was not met yet";
}

/// Allocates and frees at random addresses of its own and remembers them.
class Mutator {
 public:
  /// Adds to `operations` what it does.
  Mutator(__u32 cpu, std::atomic<__u64>& operations) : cpu_(cpu), random_(cpu), operations_(&operations) {}

  void run(int operations, std::size_t most_live) {
    host_arena::cpu = cpu_;
    for (int i = 0; i < operations; ++i) {
      operations_->fetch_add(1, std::memory_order_relaxed);
      const bool is_full = live_.size() >= most_live;
      if (!is_full && random_() % 5 < 3) {
        put();
      } else {
        drop();
      }
    }
  }

  const std::map<__u64, __u64>& live() const { return live_; }
  std::uint64_t wrong() const { return wrong_; }

 private:
  void put() {
    const __u64 address = 0x7f0000000000 + (random_() % 4'000'000 * 8 + cpu_) * 16;
    if (live_.contains(address)) return;
    const hawk_block block = {.size_bytes = random_() % 100000, .stack = cpu_, .program = 0, .born = 0};
    hawk_request request = hawk_insertion_of(hawk_live_hash(address, block.program), address, &block);
    hawk_do(&request);
    if (request.growth_check != 0) hawk_resize(1);
    if (request.result == HAWK_INSERTED) live_[address] = block.size_bytes;
    if (request.result != HAWK_INSERTED && request.result != HAWK_NO_ROOM) ++wrong_;
  }

  void drop() {
    if (live_.empty()) return;
    const auto victim = live_.lower_bound(0x7f0000000000 + random_() % (4'000'000ULL * 128));
    if (victim == live_.end()) return;
    hawk_request request = hawk_take_of(victim->first, 0);
    hawk_do(&request);
    if (request.result != 0) {
      const hawk_block block = hawk_slot_block(&request.found, 0);
      if (block.size_bytes != victim->second || block.stack != cpu_) ++wrong_;
    } else {
      const std::lock_guard guard(host_arena::spilled_mutex);
      if (host_arena::spilled.erase(victim->first) != 1) ++wrong_;
    }
    live_.erase(victim);
  }

  __u32 cpu_;
  std::mt19937 random_;
  std::map<__u64, __u64> live_;
  std::uint64_t wrong_ = 0;
  std::atomic<__u64>* operations_;
};

TEST_F(LiveArena, ThreadsWhileItGrowsAndShrinks) {
  std::atomic<__u64> operations = 0;
  std::vector<Mutator> mutators;
  for (__u32 cpu = 0; cpu < 4; ++cpu) mutators.emplace_back(cpu, operations);
  std::atomic<bool> done = false;
  __u32 most_pages = 0;
  std::thread shrinker([&] {
    host_arena::cpu = 4;
    // Not all the time: growth, which does not wait for it, would never get its turn.
    for (__u64 next = 0; !done; std::this_thread::yield()) {
      if (operations < next) continue;
      next = operations + 64;
      most_pages = std::max(most_pages, pages_used());
      hawk_resize(0);
    }
  });
  std::vector<std::thread> threads;
  threads.reserve(mutators.size());
  for (Mutator& mutator : mutators) {
    threads.emplace_back([&mutator] {
      mutator.run(120'000, 40'000);
      mutator.run(120'000, 100);
      mutator.run(60'000, 20'000);
    });
  }
  for (std::thread& thread : threads) thread.join();
  done = true;
  shrinker.join();
  std::size_t expected = 0;
  for (const Mutator& mutator : mutators) {
    EXPECT_EQ(mutator.wrong(), 0U);
    expected += mutator.live().size();
    for (const auto& [address, size] : mutator.live()) ASSERT_EQ(take(address).size_bytes, size);
  }
  EXPECT_GT(expected, 30000U);
  EXPECT_GT(most_pages, 8 * hawk_geometry_pages(hawk_geometry_start())) << "it grew";
  EXPECT_LT(pages_used(), most_pages) << "and shrank";
  EXPECT_EQ(population(), 0);
  EXPECT_TRUE(host_arena::spilled.empty());
}

}  // namespace
}  // namespace hawk
