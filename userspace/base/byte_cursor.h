#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace hawk {

/// Bytes that are somewhere else: of a file's image, or of a message.
using Bytes = std::span<const std::uint8_t>;

inline Bytes bytes_in(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

inline std::string_view text_of(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

/// `size` bytes of `bytes` from `offset` on; fewer, or none, where it ends earlier.
inline Bytes part_of(Bytes bytes, std::uint64_t offset, std::uint64_t size = UINT64_MAX) {
  if (offset >= bytes.size()) return {};
  return bytes.subspan(offset, std::min<std::uint64_t>(size, bytes.size() - offset));
}

/// Reads forward through bytes of which nothing is known: sections of files, messages, recordings. What goes beyond the
/// end, or is no number of 64 bits, yields 0 or nothing and ends the reading, which ok() says.
class ByteCursor {
 public:
  ByteCursor() = default;
  explicit ByteCursor(Bytes bytes) : next_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  bool ok() const { return ok_; }
  bool at_end() const { return next_ == end_; }
  std::uint64_t left() const { return static_cast<std::uint64_t>(end_ - next_); }
  const std::uint8_t* next() const { return next_; }
  void fail() {
    ok_ = false;
    next_ = end_;
  }

  /// A little-endian number, or a structure as it lies in memory.
  template <class T>
  T number() {
    T value = {};
    if (left() < sizeof(T)) {
      fail();
      return value;
    }
    std::memcpy(&value, next_, sizeof(T));
    next_ += sizeof(T);
    return value;
  }
  /// A little-endian number of 0 to 8 bytes.
  std::uint64_t number(std::size_t bytes) {
    std::uint64_t value = 0;
    if (left() >= sizeof value) {  // one load and a mask: much faster than a copy of unknown length
      std::memcpy(&value, next_, sizeof value);
      next_ += bytes;
      return bytes == sizeof value ? value : value & ((std::uint64_t{1} << (8 * bytes)) - 1);
    }
    const Bytes taken = take(bytes);
    if (!taken.empty()) std::memcpy(&value, taken.data(), taken.size());
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
  /// A length in the initial-length form (DWARF 5, section 7.4): four bytes, or 0xffffffff and eight.
  std::uint64_t initial_length(bool& is_64_bit) {
    constexpr std::uint32_t kEscape = 0xffffffff;
    const auto length = number<std::uint32_t>();
    is_64_bit = length == kEscape;
    return is_64_bit ? number<std::uint64_t>() : length;
  }
  /// The next `bytes` of them; none when there are not so many.
  Bytes take(std::uint64_t bytes) {
    if (bytes > left()) {
      fail();
      return {};
    }
    const std::uint8_t* begin = next_;
    next_ += bytes;
    return {begin, static_cast<std::size_t>(bytes)};
  }
  void skip(std::uint64_t bytes) { take(bytes); }
  /// A length as LEB128, then so many bytes.
  Bytes block() { return take(uleb()); }
  Bytes rest() { return take(left()); }
  /// Text up to its terminating zero, which is skipped.
  std::string_view text() {
    const void* zero = at_end() ? nullptr : std::memchr(next_, 0, left());
    if (zero == nullptr) {
      fail();
      return {};
    }
    const Bytes text = take(static_cast<std::uint64_t>(static_cast<const std::uint8_t*>(zero) - next_));
    ++next_;
    return text_of(text);
  }

 private:
  std::uint64_t longer_leb(std::uint8_t first, bool is_signed) {
    constexpr unsigned kLastShift = 63;
    std::uint64_t value = first & 0x7f;
    for (unsigned shift = 7; shift <= kLastShift; shift += 7) {
      const std::uint8_t next = byte();
      value |= std::uint64_t{next & 0x7fu} << shift;
      const bool is_too_large = shift == kLastShift && !is_signed && (next & 0x7f) > 1;
      if (is_too_large) break;
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
