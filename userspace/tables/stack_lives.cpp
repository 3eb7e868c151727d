#include "userspace/tables/stack_lives.h"

#include <algorithm>
#include <tuple>

namespace hawk {

std::uint64_t& BlockHistograms::at(std::uint32_t number) {
  if (number < kLifetimeNumbers) return sizes[number];
  if (number < kTemporaryNumber) return lifetimes[number - kLifetimeNumbers];
  return number == kTemporaryNumber ? temporary : freed_by_others;
}

BlockHistograms& BlockHistograms::operator+=(const StackLives& lives) {
  at(lives.number) += lives.count;
  return *this;
}

void BlockHistograms::append_to(std::vector<StackLives>& lives, StackId stack, TargetId target) const {
  BlockHistograms copy = *this;
  for (std::uint32_t number = 0; number < kNumbers; ++number) {
    if (const std::uint64_t count = copy.at(number); count != 0) lives.push_back({stack, target, number, count});
  }
}

void merge_lives(std::vector<StackLives>& lives) {
  const auto key = [](const StackLives& own) { return std::tie(own.stack, own.target, own.number); };
  std::sort(lives.begin(), lives.end(), [&](const StackLives& a, const StackLives& b) { return key(a) < key(b); });
  std::size_t kept = 0;
  for (const StackLives& own : lives) {
    if (kept != 0 && key(lives[kept - 1]) == key(own)) {
      lives[kept - 1].count += own.count;
    } else {
      lives[kept++] = own;
    }
  }
  lives.resize(kept);
}

}  // namespace hawk
