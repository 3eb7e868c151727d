#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "userspace/tables/drained.h"

namespace hawk {

/// What the kernel would keep: words, each once, and frames of all stacks as their numbers. Both stay where they are.
class KernelFrames {
 public:
  FrameWords frames(const std::vector<std::uint64_t>& words) {
    std::vector<std::uint32_t>& numbers = numbers_.emplace_back();
    for (const std::uint64_t word : words) numbers.push_back(number_of(word));
    return {numbers, words_.data()};
  }

 private:
  std::uint32_t number_of(std::uint64_t word) {
    auto* const end = words_.begin() + used_;
    auto* const known = std::find(words_.begin(), end, word);
    if (known == end) words_.at(used_++) = word;
    return static_cast<std::uint32_t>(known - words_.begin());
  }

  std::array<std::uint64_t, 2048> words_ = {};
  std::size_t used_ = 0;
  std::deque<std::vector<std::uint32_t>> numbers_;
};

}  // namespace hawk
