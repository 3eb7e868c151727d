#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace hawk {

/// Index into Snapshot::locations.
enum class LocationId : std::uint32_t {};

/// The frames of one stack, as numbers of locations. A value that never changes, which is why copies share their
/// content: a snapshot of 100,000 stacks is made at every refresh of the screen.
class StackFrames {
 public:
  StackFrames() = default;
  explicit StackFrames(std::vector<LocationId> frames) {
    const std::size_t count = frames.size();
    *this = StackFrames(std::make_shared<const std::vector<LocationId>>(std::move(frames)), 0, count);
  }
  /// `count` elements of `block` from `first` on. Stacks that are made together share one block of memory.
  StackFrames(const std::shared_ptr<const std::vector<LocationId>>& block, std::size_t first, std::size_t count)
      : begin_(block, block->data() + first), size_(static_cast<std::uint32_t>(count)) {}

  const LocationId* begin() const { return begin_.get(); }
  const LocationId* end() const { return begin_.get() + size_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  LocationId operator[](std::size_t index) const { return begin_.get()[index]; }

  bool operator==(const StackFrames& other) const { return std::equal(begin(), end(), other.begin(), other.end()); }

 private:
  std::shared_ptr<const LocationId> begin_;
  std::uint32_t size_ = 0;
};

}  // namespace hawk
