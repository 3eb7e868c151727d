#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "userspace/base/byte_cursor.h"

namespace hawk {

/// Values as bytes: numbers in LEB128 (seven bits a byte, the lowest first), signed ones in zigzag order, a text or a
/// list with its length in front. ByteReader has the same functions, so that one description of a value's fields
/// serves both.
class ByteWriter {
 public:
  static constexpr bool kReads = false;

  void number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  /// For a difference, which may be negative: modulo 2^64.
  void difference(std::uint64_t value) {
    number((value << 1) ^ (static_cast<std::int64_t>(value) < 0 ? ~std::uint64_t{0} : 0));
  }
  void flag(bool value) { bytes_ += static_cast<char>(value); }
  void text(std::string_view value) {
    number(value.size());
    bytes_.append(value);
  }
  template <class T, class Fields>
  void list(const std::vector<T>& values, Fields fields) {
    number(values.size());
    for (const T& value : values) fields(value);
  }
  template <class T, class Fields>
  void optional(const std::optional<T>& value, Fields fields) {
    flag(value.has_value());
    if (value) fields(*value);
  }

  /// What another writer has made.
  void raw(std::string_view bytes) { bytes_.append(bytes); }

  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// The values again, in the same order, from bytes of which nothing is known. What does not fit in the bytes that are
/// there, in its type, or in the memory that may be spent is 0 or empty, and is_good() is false from then on.
class ByteReader {
 public:
  static constexpr bool kReads = true;

  /// `budget`: bytes of memory that may be spent on values; what was is taken off.
  ByteReader(std::string_view bytes, std::uint64_t& budget) : cursor_(bytes_in(bytes)), budget_(budget) {}

  std::uint64_t number() { return cursor_.uleb(); }
  /// A number that must be below `end`; 0 if it is not.
  std::uint64_t number_below(std::uint64_t end) {
    const std::uint64_t value = number();
    return value < end ? value : fail();
  }
  template <class Number>
  void number(Number& value) {
    const std::uint64_t read = number();
    value = static_cast<Number>(read <= static_cast<std::uint64_t>(std::numeric_limits<Number>::max()) ? read : fail());
  }
  std::uint64_t difference() {
    const std::uint64_t value = number();
    return (value >> 1) ^ (~(value & 1) + 1);
  }
  void flag(bool& value) { value = number_below(2) != 0; }
  void text(std::string& value) {
    const std::uint64_t size = number();
    if (size > cursor_.left() || !spend(size + sizeof(std::string))) {
      fail();
      return;
    }
    value = text_of(cursor_.take(size));
  }
  /// How many values follow, of which each takes at least a byte here and `memory` bytes in memory.
  std::uint64_t count(std::size_t memory) {
    const std::uint64_t count = number();
    if (count > cursor_.left() || !spend(count * memory)) return fail();  // no overflow: both are sizes of what exists
    return count;
  }
  template <class T, class Fields>
  void list(std::vector<T>& values, Fields fields) {
    values.resize(count(sizeof(T)));
    for (T& value : values) fields(value);
  }
  template <class T, class Fields>
  void optional(std::optional<T>& value, Fields fields) {
    bool is_there = false;
    flag(is_there);
    value = is_there ? std::optional<T>(T{}) : std::nullopt;
    if (value) fields(*value);
  }

  /// Takes memory off the budget; a failure if there is not as much.
  bool spend(std::uint64_t bytes) {
    ran_out_ = ran_out_ || bytes > budget_;
    if (ran_out_) fail();
    if (!ran_out_) budget_ -= bytes;
    return !ran_out_;
  }
  /// Ends in failure: the values make no sense.
  std::uint64_t fail() {
    cursor_.fail();
    return 0;
  }
  /// Ends in failure unless `inner`, of bytes that are part of these, has read all of them.
  void require(const ByteReader& inner) {
    if (inner.is_complete()) return;
    ran_out_ = ran_out_ || inner.ran_out_;
    fail();
  }
  bool is_good() const { return cursor_.ok(); }
  /// Whether it was memory that it failed for.
  bool ran_out() const { return ran_out_; }
  /// Whether everything was there, and nothing is left.
  bool is_complete() const { return cursor_.ok() && cursor_.at_end(); }

 private:
  ByteCursor cursor_;
  std::uint64_t& budget_;
  bool ran_out_ = false;
};

}  // namespace hawk
