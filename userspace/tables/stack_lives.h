#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "userspace/base/ids.h"
#include "userspace/tables/counters.h"

namespace hawk {

/// How many blocks of one stack are counted as one thing. Only what is not 0: most stacks have few of the 70 numbers.
struct StackLives {
  StackId stack = kNoStack;
  TargetId target{};
  std::uint32_t number = 0;  ///< what they are counted as: a number of BlockHistograms
  std::uint64_t count = 0;
  bool operator==(const StackLives&) const = default;
};

/// Orders them by stack, target and number, and makes one of those that have all three in common.
void merge_lives(std::vector<StackLives>& lives);

/// Sizes and lifetimes of blocks in classes: class 0 is of 0, class k of 2^(k-1) to 2^k - 1; the last one has all that
/// is larger, too. Counts blocks.
struct BlockHistograms {
  static constexpr std::size_t kSizes = 35;
  static constexpr std::size_t kLifetimes = 33;
  std::array<std::uint64_t, kSizes> sizes = {};          ///< bytes of those that were allocated
  std::array<std::uint64_t, kLifetimes> lifetimes = {};  ///< milliseconds of those that were freed
  /// Freed within the interval that they were allocated in, or before the thread's next allocation.
  std::uint64_t temporary = 0;
  std::uint64_t freed_by_others = 0;  ///< by another thread than the one that had allocated them

  /// All of these in this order, as StackLives::number has them.
  static constexpr std::uint32_t kLifetimeNumbers = kSizes;
  static constexpr std::uint32_t kTemporaryNumber = kSizes + kLifetimes;
  static constexpr std::uint32_t kFreedByOthersNumber = kTemporaryNumber + 1;
  static constexpr std::uint32_t kNumbers = kFreedByOthersNumber + 1;

  /// The least number of a class.
  static std::uint64_t least_of(std::size_t number) { return number == 0 ? 0 : std::uint64_t{1} << (number - 1); }
  std::uint64_t& at(std::uint32_t number);
  BlockHistograms& operator+=(const StackLives& lives);
  /// Appends those of a stack that are not 0.
  void append_to(std::vector<StackLives>& lives, StackId stack, TargetId target = {}) const;
  bool operator==(const BlockHistograms&) const = default;
};

/// What of a stack one thread has allocated.
struct ThreadShare {
  StackId stack = kNoStack;
  TargetId target{};
  int tid = 0;  ///< in our pid namespace; 0: not known
  Counters counters;
  std::uint64_t freed_by_others = 0;
  bool operator==(const ThreadShare&) const = default;
};

/// What a thread is called, or was when it ended.
struct ThreadName {
  TargetId target{};
  int tid = 0;
  std::string name;
  bool operator==(const ThreadName&) const = default;
};

/// Where stacks are told apart by threads.
struct ThreadShares {
  std::vector<ThreadShare> shares = {};  ///< ascending by stack, then by target, then by thread
  std::vector<ThreadName> names = {};    ///< ascending by target, then by thread; not of all
  bool operator==(const ThreadShares&) const = default;
};

}  // namespace hawk
