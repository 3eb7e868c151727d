#include "userspace/tracer/index_pool.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

namespace hawk {
namespace {

/// The minimum for an owner: its needs grow, and there may be a thousand owners.
constexpr std::size_t kLeast = 8;

}  // namespace

std::optional<std::size_t> IndexPool::take(std::size_t count) {
  const auto fits = [count](const auto& area) { return area.second >= count; };
  const auto found = std::find_if(free_.begin(), free_.end(), fits);
  if (found == free_.end()) return std::nullopt;
  const auto [first, size] = *found;
  free_.erase(found);
  if (size > count) free_.emplace(first + count, size - count);
  return first;
}

void IndexPool::give_back(std::size_t first, std::size_t count) {
  const auto next = free_.upper_bound(first);
  if (next != free_.end() && next->first == first + count) {
    count += next->second;
    free_.erase(next);
  }
  const auto behind = free_.upper_bound(first);
  if (behind != free_.begin()) {
    const auto before = std::prev(behind);
    if (before->first + before->second == first) {
      before->second += count;
      return;
    }
  }
  free_.emplace(first, count);
}

PooledArea::PooledArea(PooledArea&& other) noexcept
    : pool_(other.pool_), first_(other.first_), size_(std::exchange(other.size_, 0)) {}

PooledArea& PooledArea::operator=(PooledArea&& other) noexcept {
  std::swap(pool_, other.pool_);
  std::swap(first_, other.first_);
  std::swap(size_, other.size_);
  return *this;
}

bool PooledArea::require(std::size_t count) {
  if (count <= size_) return true;
  clear();
  for (const std::size_t wanted : {std::bit_ceil(std::max(count, kLeast)), count}) {
    const std::optional<std::size_t> first = pool_->take(wanted);
    if (!first) continue;
    first_ = *first;
    size_ = wanted;
    return true;
  }
  return false;
}

void PooledArea::clear() {
  if (size_ != 0) pool_->give_back(first_, size_);
  size_ = 0;
}

}  // namespace hawk
