#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "userspace/base/byte_cursor.h"

namespace hawk {

/// Values as bytes, for messages between our own processes on one machine: numbers as they lie in memory, a text with
/// its length in front.
class WireWriter {
 public:
  void number(std::uint64_t value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void text(std::string_view value) {
    number(value.size());
    bytes_.append(value);
  }
  std::size_t size_bytes() const { return bytes_.size(); }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// The values again, in the same order. Their writer may have been taken over by a file that it read: what does
/// not fit in the bytes that are there is 0 or empty, and is_good() is false from then on.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : cursor_(bytes_in(bytes)) {}

  std::uint64_t number() { return cursor_.number<std::uint64_t>(); }
  /// A number that must be below `end`; 0 if it is not.
  std::uint64_t number_below(std::uint64_t end) {
    const std::uint64_t value = number();
    if (value < end) return value;
    cursor_.fail();
    return 0;
  }
  std::string_view text() { return text_of(cursor_.take(number())); }
  /// How many values follow, of which each takes at least `bytes`.
  std::uint64_t count(std::size_t bytes) { return number_below(cursor_.left() / bytes + 1); }

  bool is_good() const { return cursor_.ok(); }
  /// Whether everything was there, and nothing is left.
  bool is_complete() const { return cursor_.ok() && cursor_.at_end(); }

 private:
  ByteCursor cursor_;
};

}  // namespace hawk
