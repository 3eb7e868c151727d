#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace hawk {

/// Bytes of a section of an ELF file. They live as long as the image they are part of.
using Bytes = std::span<const std::uint8_t>;

/// `size` bytes of `bytes` from `offset` on; fewer, or none, where it ends earlier.
inline Bytes part_of(Bytes bytes, std::uint64_t offset, std::uint64_t size = UINT64_MAX) {
  if (offset >= bytes.size()) return {};
  return bytes.subspan(offset, size < bytes.size() - offset ? size : bytes.size() - offset);
}

/// Reads little-endian numbers and DWARF's variable-length ones one after the other. Input is not trusted: what would
/// pass the end yields 0, and from then on everything does, which ok() tells.
class ByteCursor {
 public:
  explicit ByteCursor(Bytes bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  bool ok() const { return ok_; }
  bool at_end() const { return at_ == end_; }
  std::uint64_t left() const { return static_cast<std::uint64_t>(end_ - at_); }
  const std::uint8_t* position() const { return at_; }

  /// A number of 0 to 8 bytes.
  std::uint64_t number(std::size_t bytes) {
    std::uint64_t value = 0;
    if (left() >= sizeof value) {  // one load and a mask: much faster than a copy of unknown length
      std::memcpy(&value, at_, sizeof value);
      at_ += bytes;
      return bytes == sizeof value ? value : value & ((std::uint64_t{1} << (8 * bytes)) - 1);
    }
    if (take(bytes)) std::memcpy(&value, at_ - bytes, bytes);
    return value;
  }
  std::uint8_t u8() { return take(1) ? at_[-1] : std::uint8_t{0}; }
  std::uint16_t u16() { return static_cast<std::uint16_t>(number(2)); }
  std::uint32_t u32() { return static_cast<std::uint32_t>(number(4)); }
  std::uint64_t u64() { return number(8); }

  /// Bits beyond 64 are dropped.
  std::uint64_t uleb128() {
    if (at_ != end_ && *at_ < 0x80) return *at_++;  // nearly all are that short
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const std::uint8_t byte = u8();
      if (shift < 64) value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
  }

  std::int64_t sleb128() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;;) {
      const std::uint8_t byte = u8();
      if (shift < 64) value |= std::uint64_t{byte & 0x7fu} << shift;
      shift += 7;
      if (byte >= 0x80) continue;
      if (shift < 64 && (byte & 0x40) != 0) value |= ~std::uint64_t{0} << shift;
      return static_cast<std::int64_t>(value);
    }
  }

  /// Text up to its terminating zero, which is skipped.
  std::string_view text() {
    const void* zero = at_ == end_ ? nullptr : std::memchr(at_, 0, left());
    if (zero == nullptr) {
      take(left() + 1);
      return {};
    }
    const char* start = reinterpret_cast<const char*>(at_);
    at_ = static_cast<const std::uint8_t*>(zero) + 1;
    return {start, static_cast<std::size_t>(reinterpret_cast<const char*>(zero) - start)};
  }

  void skip(std::uint64_t bytes) { take(bytes); }

  /// A length in the initial-length form (DWARF 5, section 7.4): four bytes, or 0xffffffff and eight. Sets
  /// `offset_bytes` to the size of offsets that follows from it.
  std::uint64_t unit_length(std::uint8_t& offset_bytes) {
    offset_bytes = 4;
    const std::uint32_t length = u32();
    if (length != 0xffffffff) return length;
    offset_bytes = 8;
    return u64();
  }

 private:
  bool take(std::uint64_t bytes) {
    if (bytes > left()) {
      at_ = end_;
      ok_ = false;
      return false;
    }
    at_ += bytes;
    return true;
  }

  const std::uint8_t* at_;
  const std::uint8_t* end_;
  bool ok_ = true;
};

}  // namespace hawk
