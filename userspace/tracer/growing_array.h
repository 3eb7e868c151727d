#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace hawk {

/// Memory of a BPF map that is mapped from its beginning as far as it is needed. The kernel maps all pages of an array
/// at once, and what is mapped counts as our resident memory.
class GrowingMapping {
 public:
  GrowingMapping() = default;
  /// Of `mapped`, the memory of the map `map_fd` from its beginning on, the bytes of `part`. They stay mapped where the
  /// kernel has no memory for the change.
  GrowingMapping(int map_fd, std::span<std::byte> mapped, std::span<std::byte> part);

  /// Maps the first `bytes` of the part. Throws std::bad_alloc where the kernel has no memory.
  void require(std::size_t bytes);

 private:
  int map_fd_ = -1;
  std::byte* map_ = nullptr;   ///< where the map begins
  std::byte* part_ = nullptr;  ///< where the part begins
  std::byte* next_ = nullptr;  ///< the first page that is not mapped
  std::byte* end_ = nullptr;   ///< behind the last page that lies in the part alone
};

/// An array among the variables of the programs, whose elements user space needs from the first on.
template <class T>
class GrowingArray {
 public:
  GrowingArray() = default;
  /// All of it is mapped, and stays so.
  explicit GrowingArray(std::span<T> all) : all_(all) {}
  /// Lies in `mapped`, the memory of the map `map_fd`.
  GrowingArray(std::span<T> all, int map_fd, std::span<std::byte> mapped)
      : all_(all), mapping_(map_fd, mapped, std::as_writable_bytes(all)) {}

  std::size_t size() const { return all_.size(); }
  /// The first `count` elements, or all if there are fewer.
  std::span<T> first(std::size_t count) {
    const std::span<T> wanted = all_.first(std::min(count, all_.size()));
    mapping_.require(wanted.size_bytes());
    return wanted;
  }
  std::span<T> all() { return first(all_.size()); }

 private:
  std::span<T> all_;
  GrowingMapping mapping_;
};

/// Takes the memory of a map out of ours, where it is not needed at all. Its addresses stay taken: who has mapped it
/// will unmap it.
void hide_memory(std::span<std::byte> memory);

}  // namespace hawk
