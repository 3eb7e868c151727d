#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "userspace/base/fibonacci_hash.h"

namespace hawk {

/// A number for each word seen, an enumeration of 32 bits. A hash table of its own because there may be millions of
/// words, a few thousand of them different: std::unordered_map takes five times as long.
template <class Number>
class WordNumbers {
 public:
  /// The number of `word`; asks `make` for it the first time.
  template <class Make>
  Number find_or_add(std::uint64_t word, const Make& make) {
    if (used_ * 2 >= slots_.size()) grow();
    Slot& slot = slot_of(word);
    if (slot.number == kFree) {
      slot = {.word = word, .number = make()};
      ++used_;
    }
    return slot.number;
  }

  /// Makes room for so many words at once.
  void reserve(std::size_t words) {
    std::size_t slots = slots_.empty() ? kFirstSlots : slots_.size();
    while (slots < 2 * words) slots *= 2;
    if (slots > slots_.size()) grow_to(slots);
  }

  /// How many words have a number.
  std::size_t size() const { return used_; }

 private:
  static constexpr Number kFree{0xffffffff};  // more than there are
  static constexpr std::size_t kFirstSlots = 1024;
  struct Slot {
    std::uint64_t word = 0;
    Number number = kFree;
  };

  /// Where `word` is, or else belongs. There is always a free slot.
  Slot& slot_of(std::uint64_t word) {
    std::size_t index = static_cast<std::size_t>(fibonacci_hash(word, 32)) & (slots_.size() - 1);
    while (slots_[index].number != kFree && slots_[index].word != word) index = (index + 1) & (slots_.size() - 1);
    return slots_[index];
  }

  void grow() { grow_to(slots_.empty() ? kFirstSlots : slots_.size() * 2); }

  void grow_to(std::size_t slots) {
    std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(slots));
    for (const Slot& slot : old) {
      if (slot.number != kFree) slot_of(slot.word) = slot;
    }
  }

  std::vector<Slot> slots_;  ///< a power of two
  std::size_t used_ = 0;
};

}  // namespace hawk
