#pragma once

#include <elfutils/libdw.h>

#include <cstddef>
#include <cstdint>

namespace hawk {

/// Goes once through the entries below one, in the order in which they stand in the file.
///
///     EntryWalk walk(parent, end);
///     while (walk.next()) walk.enter(whether the children of walk.entry() are wanted);
///
/// dwarf_child() and dwarf_siblingof() alone read the children of an entry twice where the compiler does not say where
/// its sibling is: once to visit them, once to pass them. Here the end of the visited ones is where the sibling begins.
/// Input is not trusted: a walk only goes forward through the bytes of a unit, and not beyond a nesting of 256, so it
/// ends.
class EntryWalk {
 public:
  /// The entries below `parent`, which lies in a unit that ends at `unit_end`, an address as Dwarf_Die::addr is one.
  EntryWalk(Dwarf_Die* parent, const std::uint8_t* unit_end) : end_(unit_end) {
    has_first_ = dwarf_child(parent, &entry_) == 0;
  }

  /// Goes to the next entry. False at the end, and where the data is damaged.
  bool next() {
    closed_ = 0;
    if (!started_) {
      started_ = true;
      return has_first_;
    }
    if (entered_) {
      entered_ = false;
      Dwarf_Die child;
      if (dwarf_child(&entry_, &child) == 0) {
        ++depth_;
        entry_ = child;
        return true;
      }
      ++closed_;  // it has none
    }
    Dwarf_Die sibling;
    const int found = dwarf_siblingof(&entry_, &sibling);
    if (found == 0) {
      entry_ = sibling;
      return true;
    }
    return found == 1 && sibling.addr != nullptr && leave(static_cast<const std::uint8_t*>(sibling.addr));
  }

  Dwarf_Die* entry() { return &entry_; }
  /// Whether next() goes to the children of entry() before it goes on. Not heeded where nesting is too deep.
  bool enter(bool wanted) { return entered_ = wanted && depth_ < kDeepestNesting; }
  /// How many of the entries that were entered the last next() has left.
  std::size_t closed_count() const { return closed_; }

 private:
  static constexpr std::size_t kDeepestNesting = 256;

  /// `mark`: the zero that ends a list of children.
  bool leave(const std::uint8_t* mark) {
    while (depth_ > 0) {
      --depth_;
      ++closed_;
      if (++mark >= end_) return false;
      if (*mark == 0) continue;
      Dwarf_CU* unit = entry_.cu;
      entry_ = {};
      entry_.addr = const_cast<std::uint8_t*>(mark);
      entry_.cu = unit;
      return true;
    }
    return false;
  }

  const std::uint8_t* end_;
  Dwarf_Die entry_{};
  bool has_first_ = false;
  bool started_ = false;
  bool entered_ = false;
  std::size_t depth_ = 0;
  std::size_t closed_ = 0;
};

}  // namespace hawk
