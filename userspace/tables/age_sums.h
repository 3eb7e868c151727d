#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "userspace/tables/live_ages.h"
#include "userspace/tables/word_numbers.h"

namespace hawk {

/// Sums up live blocks by stack and time of birth, in bounded memory: ten million blocks of an old process may have as
/// many of both together. Then births are told apart less precisely the older the blocks are, down to ages between
/// two powers of two. Blocks that are apart by a cut stay so.
class AgeSums {
 public:
  /// How many sums there may be, nearly: 32 MiB.
  static constexpr std::size_t kMost = std::size_t{1} << 20;

  /// `cuts_ms`: births from each of these on are not those before it; any order.
  AgeSums(std::uint64_t now_ms, std::vector<std::uint64_t> cuts_ms, std::size_t most = kMost);

  /// Makes room for so many sums at once.
  void reserve(std::size_t sums) {
    numbers_.reserve(sums);
    sums_.reserve(sums);
  }

  void add(StackId stack, std::uint64_t born_ms, std::uint64_t bytes) {
    add({.stack = stack, .target = {}, .born_ms = born_ms, .bytes = bytes, .count = 1});
    while (sums_.size() > most_ && age_bits_ > 1) coarsen();
  }

  /// In any order.
  const std::vector<AgedBlocks>& sums() const { return sums_; }
  /// See LiveAges::age_bits.
  std::uint32_t age_bits() const { return age_bits_; }

 private:
  enum class BirthNumber : std::uint32_t {};
  enum class SumNumber : std::uint32_t {};

  void add(const AgedBlocks& blocks);
  /// The earliest birth that is not told apart from this one.
  std::uint64_t earliest(std::uint64_t born_ms) const;
  void coarsen();

  std::uint64_t now_ms_;
  std::vector<std::uint64_t> cuts_ms_;  ///< ascending
  std::size_t most_;
  std::uint32_t age_bits_ = LiveAges::kExactAges;
  std::uint64_t births_ = 0;
  WordNumbers<BirthNumber> birth_numbers_;
  WordNumbers<SumNumber> numbers_;
  std::vector<AgedBlocks> sums_;
};

}  // namespace hawk
