#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "userspace/recording/byte_stream.h"
#include "userspace/recording/recorded_names.h"
#include "userspace/recording/recording.h"

namespace hawk::recording {

/// What IntervalEncoder has encoded, one interval after the other. The bytes are not trusted: what makes no sense, or
/// would take more memory than may be spent, is refused.
class IntervalDecoder {
 public:
  /// `budget`: bytes of memory for all that the recording holds, of which what this takes is taken off; must outlive
  /// this.
  explicit IntervalDecoder(std::uint64_t& budget) : budget_(budget) {}

  /// The time of an interval's end since the trace began, without taking it.
  static std::uint64_t time_of(std::string_view interval);

  enum class Outcome { kTaken, kMalformed, kTooLarge };
  /// After any other outcome than kTaken, what it has handed on so far makes no sense.
  Outcome take(std::string_view interval);

  const Snapshot& snapshot() const { return snapshot_; }
  const std::vector<RecordedMapping>& mappings() const { return mappings_; }
  RecordedNames& names() { return names_; }
  const std::string& writer() const { return writer_; }
  /// As RecordedState has it.
  std::optional<std::uint64_t> sum_most() const { return sum_most_; }

 private:
  void take_causes(ByteReader& bytes);
  void take_modules(ByteReader& bytes);
  void take_head(ByteReader& bytes);
  void take_locations(ByteReader& bytes);
  void take_new_stacks(ByteReader& bytes);
  StackRecord new_stack(ByteReader& bytes, const StackRecord& before);
  void take_changes(ByteReader& bytes);
  void take_totals(ByteReader& bytes);
  void take_mappings(ByteReader& bytes);
  void take_names(ByteReader& bytes);
  void take_records(ByteReader& bytes);
  void take_ages(ByteReader& bytes);
  void take_thread_shares(ByteReader& bytes);
  void take_threads(ByteReader& bytes);
  std::uint32_t text_number(ByteReader& bytes);
  std::optional<ModuleId> module_or_none(ByteReader& bytes);

  std::uint64_t& budget_;
  bool has_begun_ = false;
  std::string writer_;             ///< the version of the hawktrace that wrote it
  std::vector<hawk_loss> causes_;  ///< by the numbers that the recording has for them
  std::vector<hawk_end> ends_;     ///< the same
  Snapshot snapshot_;
  std::vector<RecordedMapping> mappings_;
  std::map<std::uint64_t, std::size_t> mapped_;  ///< by first address, those that are mapped now: indices
  RecordedNames names_;
  std::optional<std::uint64_t> sum_most_;
};

}  // namespace hawk::recording
