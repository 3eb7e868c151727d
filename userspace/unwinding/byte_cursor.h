#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>

namespace hawk {

/// Reads forward through bytes that may be damaged. What goes beyond the end, or is no number, yields 0, ends the
/// reading and shows in ok().
class ByteCursor {
 public:
  ByteCursor() = default;
  explicit ByteCursor(std::span<const std::uint8_t> bytes) : next_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  bool ok() const { return ok_; }
  bool at_end() const { return next_ == end_; }
  std::uint64_t bytes_left() const { return static_cast<std::uint64_t>(end_ - next_); }
  const std::uint8_t* next() const { return next_; }
  void fail() {
    ok_ = false;
    next_ = end_;
  }

  /// A little-endian number.
  template <class T>
  T number() {
    T value = 0;
    if (bytes_left() < sizeof(T)) {
      fail();
      return 0;
    }
    std::memcpy(&value, next_, sizeof(T));
    next_ += sizeof(T);
    return value;
  }
  std::uint8_t byte() { return next_ == end_ ? number<std::uint8_t>() : *next_++; }
  /// LEB128 of at most 64 bits; padding is accepted up to ten bytes.
  std::uint64_t uleb() {
    const std::uint8_t first = byte();
    return first < 0x80 ? first : longer_leb(first, false);
  }
  std::int64_t sleb() {
    const std::uint8_t first = byte();
    if (first < 0x80) return first < 0x40 ? first : first - 0x80;
    return static_cast<std::int64_t>(longer_leb(first, true));
  }
  /// The next `bytes` of them; empty when there are not so many.
  std::span<const std::uint8_t> take(std::uint64_t bytes) {
    if (bytes > bytes_left()) {
      fail();
      return {};
    }
    const std::uint8_t* begin = next_;
    next_ += bytes;
    return {begin, static_cast<std::size_t>(bytes)};
  }
  /// A length as LEB128, then so many bytes.
  std::span<const std::uint8_t> block() { return take(uleb()); }
  std::span<const std::uint8_t> rest() { return take(bytes_left()); }

 private:
  std::uint64_t longer_leb(std::uint8_t first, bool is_signed) {
    std::uint64_t value = first & 0x7f;
    for (unsigned shift = 7; shift < 64 + 6; shift += 7) {
      const std::uint8_t next = byte();
      value |= std::uint64_t{next & 0x7fu} << std::min(shift, 63u);
      if (next >= 0x80) continue;
      const unsigned width = shift + 7;
      if (is_signed && width < 64 && (next & 0x40) != 0) value |= ~std::uint64_t{0} << width;
      return value;
    }
    fail();
    return 0;
  }

  const std::uint8_t* next_ = nullptr;
  const std::uint8_t* end_ = nullptr;
  bool ok_ = true;
};

}  // namespace hawk
