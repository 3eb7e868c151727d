#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "userspace/recording/byte_stream.h"
#include "userspace/recording/recording.h"

namespace hawk::recording {

/// Turns what is known at the end of each interval into bytes that say what is new since the one before: their number
/// grows with what has changed.
class IntervalEncoder {
 public:
  std::string encode(const RecordedState& state);

 private:
  void put_causes(ByteWriter& bytes);
  void put_head(ByteWriter& bytes, const Snapshot& now);
  void put_stacks(ByteWriter& bytes, const Snapshot& now);
  void put_totals(ByteWriter& bytes, const Snapshot& now);
  void put_mappings(ByteWriter& bytes, const RecordedState& state);
  void put_names(ByteWriter& bytes, const RecordedState& state);
  void put_records(ByteWriter& bytes, const RecordedState& state) const;
  void put_text_number(ByteWriter& bytes, const std::string& text);

  bool has_begun_ = false;
  Snapshot before_;
  std::string head_before_;
  std::vector<CodeMapping> mapped_before_;
  std::unordered_map<std::string, std::uint64_t> texts_;  ///< numbers of those that have been written
};

}  // namespace hawk::recording
