#pragma once

/// The programs' use of code ranges (bpf/unwind/code_ranges.h) in a simulated kernel, and the updates by user space
/// (CodeTables). For one test file each: everything here is that file's.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <span>
#include <thread>

#include "bpf/layout.h"
#include "userspace/tracer/code_tables.h"

namespace {

/// bpf/unwind/code_ranges.h is C and looks for these by name.
hawk_state state;
hawk_target the_target;
std::array<hawk_code_range, 2 * HAWK_MAX_CODE_RANGES> code_ranges;
std::array<hawk_range_state, 2 * HAWK_MAX_CODE_RANGES> code_range_states;
__u64 unwind_cache[2 * HAWK_CACHE_SETS];

constexpr std::size_t kSlots = 100;  ///< more than are kept in the list of those in use
constexpr __u64 kFirstSlot = 0x7f0000000000, kSlotBytes = 0x10000, kDistance = 0x100000;

/// What the kernel has mapped: at each slot one of many files, or none (0).
struct World {
  std::array<std::atomic<__u64>, kSlots> files{};
  std::atomic<__u32> changes{0};
  std::atomic<__u64> walks{0};

  /// Code that is being run is not unmapped.
  std::array<std::atomic<int>, kSlots> users{};
  std::array<std::atomic<bool>, kSlots> being_changed{};

  bool use(std::size_t slot) {
    ++users[slot];
    if (!being_changed[slot]) return true;
    leave(slot);
    return false;
  }
  void leave(std::size_t slot) { --users[slot]; }
};
std::unique_ptr<World> world;

std::size_t slot_of(const hawk_code_range& range) { return (range.start - kFirstSlot) / kDistance; }

template <typename Context>
long bpf_loop(__u32 rounds, long (*body)(__u32, Context*), Context* context, int) {
  __u32 round = 0;
  while (round < rounds && body(round, context) == 0) ++round;
  return round;
}

__u64 hawk_mappings_version(const struct hawk_thread*);

hawk_target* target_at(__u32) { return &the_target; }
hawk_target* target_of(const struct hawk_thread*) { return &the_target; }
__u32 program_of(const struct hawk_thread*) { return 0; }

int hawk_range_holds(__u32 index) {
  const hawk_code_range& range = code_ranges[index];
  return slot_of(range) < kSlots && world->files[slot_of(range)] == range.inode;
}

/// Every file has one rule.
int hawk_search_rows(const hawk_code_range* range, __u64) {
  return static_cast<int>(HAWK_FIRST_RULE + static_cast<__u32>(range->inode));
}

int hawk_search_elsewhere(__u64, __u32) { return HAWK_RULE_NO_CODE; }

#define HAWK_GLOBAL static
#include "bpf/unwind/code_ranges.h"

__u64 hawk_mappings_version(const struct hawk_thread*) { return hawk_version_of(&the_target, world->changes); }

}  // namespace

namespace hawk {
namespace {

/// The rule for some code at a slot, in a walk of that generation.
__u32 rule_at(std::size_t slot, __u64 offset, __u32 generation) {
  const __u64 address = kFirstSlot + slot * kDistance + offset;
  __u32 rule = hawk_find_first_cached(unwind_cache, address, generation);
  if (rule == 0) rule = hawk_find_second_cached(unwind_cache, address, generation);
  return rule != 0 ? rule : hawk_search_rule(nullptr, address, generation);
}

/// What walks found, in comparison with what is there.
struct Found {
  __u64 right = 0, wrong = 0, unknown = 0;

  void look_up(std::size_t slot, __u64 offset, __u32 generation) {
    const __u32 rule = rule_at(slot, offset, generation);
    if (rule < HAWK_FIRST_RULE)
      ++unknown;
    else
      ++(rule == HAWK_FIRST_RULE + world->files[slot] ? right : wrong);
  }
};

class CodeRanges : public ::testing::Test {
 protected:
  void SetUp() override {
    world = std::make_unique<World>();
    state = {};
    the_target = {};
    code_ranges = {};
    code_range_states = {};
    std::fill(std::begin(unwind_cache), std::end(unwind_cache), 0);
  }

  /// Puts a file, or none, where no code is being run.
  static void map(std::size_t slot, __u64 file) {
    world->being_changed[slot] = true;
    while (world->users[slot] > 0) std::this_thread::yield();
    world->files[slot] = file;
    ++world->changes;
    world->being_changed[slot] = false;
  }

  /// Allocates nothing: it may be interrupted by itself.
  void tell() {
    std::array<hawk_code_range, kSlots> ranges;
    std::size_t count = 0;
    for (std::size_t slot = 0; slot < slots_announced_; ++slot) {
      hawk_code_range range = {};
      range.start = kFirstSlot + slot * kDistance;
      range.end = range.start + kSlotBytes;
      range.inode = world->files[slot];
      if (range.inode != 0) ranges[count++] = range;
    }
    tables_.set_ranges(the_target, area_, std::span(ranges).first(count));
  }

  static __u32 look_up(std::size_t slot) { return rule_at(slot, 0, hawk_rule_generation(nullptr)); }

  std::size_t slots_announced_ = kSlots;
  CodeTables tables_{CodeTables::Memory{.state = &state,
                                        .rules = {},
                                        .ranges = GrowingArray<hawk_code_range>(code_ranges),
                                        .range_states = GrowingArray<hawk_range_state>(code_range_states),
                                        .cache = GrowingArray<__u64>(unwind_cache)}};
  PooledArea area_ = tables_.no_area();
};

}  // namespace
}  // namespace hawk
