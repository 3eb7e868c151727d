#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "userspace/tables/stack_frames.h"

namespace hawk {

/// Remembers the place of each address (a word of NewStack::addresses, with the kernel's mark), for as long as nothing
/// is mapped or unmapped. A hash table of its own because a trace may begin with millions of frames at a few thousand
/// addresses: std::unordered_map takes five times as long.
class AddressNumbers {
 public:
  /// The place of `address`; asks `make` for it the first time.
  template <class Make>
  PlaceId find_or_add(std::uint64_t address, const Make& make) {
    if (used_ * 2 >= slots_.size()) grow();
    Slot& slot = slot_of(address);
    if (slot.place == kFree) {
      slot = {.address = address, .place = make()};
      ++used_;
    }
    return slot.place;
  }

 private:
  static constexpr PlaceId kFree{0xffffffff};  // no snapshot has so many places
  struct Slot {
    std::uint64_t address = 0;
    PlaceId place = kFree;
  };

  /// Where `address` is, or else belongs. There is always a free slot.
  Slot& slot_of(std::uint64_t address) {
    std::size_t index = static_cast<std::size_t>(address * 0x9E3779B97F4A7C15U >> 32U) & (slots_.size() - 1);
    while (slots_[index].place != kFree && slots_[index].address != address) index = (index + 1) & (slots_.size() - 1);
    return slots_[index];
  }

  void grow() {
    std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(slots_.empty() ? 1024 : slots_.size() * 2));
    for (const Slot& slot : old) {
      if (slot.place != kFree) slot_of(slot.address) = slot;
    }
  }

  std::vector<Slot> slots_;  ///< a power of two
  std::size_t used_ = 0;
};

}  // namespace hawk
