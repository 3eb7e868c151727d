#include "userspace/tables/age_sums.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace hawk {

AgeSums::AgeSums(std::uint64_t now_ms, std::vector<std::uint64_t> cuts_ms, std::size_t most)
    : now_ms_(now_ms), cuts_ms_(std::move(cuts_ms)), most_(most) {
  std::sort(cuts_ms_.begin(), cuts_ms_.end());
}

std::uint64_t AgeSums::earliest(std::uint64_t born_ms) const {
  if (age_bits_ == LiveAges::kExactAges || born_ms >= now_ms_) return born_ms;
  const std::uint64_t age_ms = now_ms_ - born_ms;
  const auto bits = static_cast<std::uint32_t>(std::bit_width(age_ms));
  if (bits <= age_bits_) return born_ms;
  const std::uint64_t oldest_ms = age_ms | ((std::uint64_t{1} << (bits - age_bits_)) - 1);
  const std::uint64_t first = now_ms_ - std::min(oldest_ms, now_ms_);
  const auto after = std::upper_bound(cuts_ms_.begin(), cuts_ms_.end(), born_ms);
  return after == cuts_ms_.begin() ? first : std::max(first, *(after - 1));
}

void AgeSums::add(const AgedBlocks& blocks) {
  const std::uint64_t born_ms = earliest(blocks.born_ms);
  const BirthNumber birth = birth_numbers_.find_or_add(born_ms, [&] { return static_cast<BirthNumber>(births_++); });
  const std::uint64_t word =
      std::uint64_t{static_cast<std::uint32_t>(blocks.stack)} << 32 | static_cast<std::uint32_t>(birth);
  const SumNumber number = numbers_.find_or_add(word, [&] {
    sums_.push_back({.stack = blocks.stack, .target = {}, .born_ms = born_ms, .bytes = 0, .count = 0});
    return static_cast<SumNumber>(sums_.size() - 1);
  });
  AgedBlocks& sum = sums_[static_cast<std::size_t>(number)];
  sum.bytes += blocks.bytes;
  sum.count += blocks.count;
}

/// From exact to a part in 1,024 first, then to half as many.
void AgeSums::coarsen() {
  constexpr std::uint32_t kFirstBits = 10;
  age_bits_ = age_bits_ == LiveAges::kExactAges ? kFirstBits : age_bits_ - 1;
  const std::vector<AgedBlocks> finer = std::exchange(sums_, {});
  birth_numbers_ = {};
  numbers_ = {};
  births_ = 0;
  for (const AgedBlocks& blocks : finer) add(blocks);
}

}  // namespace hawk
