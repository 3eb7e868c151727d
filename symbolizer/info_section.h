#pragma once

#include <zlib.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "symbolizer/byte_cursor.h"

namespace hawk {

/// .debug_info, which is by far the largest section: in place or, when it was compressed with zlib (as in the debug
/// packages of distributions), inflated part by part as it is asked for.
///
///     inflated   |------------|------------|------------|---- · · ·
///     copies of  ^ 0 MiB      ^ 4 MiB      ^ 8 MiB      ^ 12 MiB       made when the stream passes there first
///     the state
///
/// A part is reached from the nearest copy of the inflater's state before it. Asking in ascending order inflates
/// everything once; at random it costs 4 MiB more a part at most. The whole would need memory as large as the section.
class InfoSection {
 public:
  /// In place.
  explicit InfoSection(Bytes plain);
  /// A zlib stream that is said to yield `size_bytes`.
  InfoSection(Bytes deflated, std::uint64_t size_bytes);

  std::uint64_t size() const { return size_bytes_; }
  /// `size_bytes` bytes from `offset` on, or fewer where the section ends or is damaged. Lies in `storage` unless the
  /// section is in place.
  Bytes part(std::uint64_t offset, std::uint64_t size_bytes, std::vector<std::uint8_t>& storage);

 private:
  struct EndInflate {
    void operator()(z_stream* stream) const;
  };
  /// An inflater that has yielded `position` bytes.
  struct State {
    std::unique_ptr<z_stream, EndInflate> stream;
    std::uint64_t position = 0;
  };
  static State copy_of(const State& state);
  bool go_to(std::uint64_t offset);
  std::uint64_t inflate_to(std::uint8_t* to, std::uint64_t size_bytes);

  Bytes bytes_;
  std::uint64_t size_bytes_;
  bool in_place_;
  std::vector<State> copies_;
  State current_;
  std::uint64_t last_offset_ = 0;
  std::vector<std::uint8_t> last_;  ///< what was read last, if it was short: headers are read again with their unit
};

}  // namespace hawk
