#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "userspace/base/result.h"
#include "userspace/base/unique_fd.h"
#include "userspace/recording/chunk_file.h"
#include "userspace/recording/interval_decoder.h"
#include "userspace/recording/recorded_names.h"
#include "userspace/recording/recording.h"

namespace hawk {

/// Reads a recording, which is not trusted, one interval after the other. It may hold traces of several processes; what
/// is asked is answered of one of them, the first unless another is chosen.
class RecordingReader {
 public:
  /// The most memory that a recording may take.
  static constexpr std::uint64_t kMaxMemoryBytes = std::uint64_t{2} << 30;

  /// Opens a regular file. Fails with kFile, also if it is no recording, or one of a later version.
  static Result<RecordingReader> open(const std::string& path, std::uint64_t max_memory_bytes = kMaxMemoryBytes);
  /// The same for a file that is open. `path`: its name, for messages.
  static Result<RecordingReader> open(UniqueFd file, const std::string& path,
                                      std::uint64_t max_memory_bytes = kMaxMemoryBytes);

  /// Reads intervals up to the last one that ends no later than `until_ns` after the trace began; nullopt: up to the
  /// last. Fails with kFile if there is none, or if one makes no sense although it is what was written.
  Result<void> read(std::optional<std::uint64_t> until_ns = std::nullopt);
  /// The same, and hands each interval's snapshot to `observer`.
  Result<void> read(std::optional<std::uint64_t> until_ns, const std::function<void(const Snapshot&)>& observer);

  /// The targets of the traces of which there is an interval; in the order of their numbers.
  std::vector<TargetInfo> targets() const;
  /// From now on what is said below is of the trace of the process `pid`. False: there is none.
  bool choose(int pid);

  /// As of the last interval that was read.
  const Snapshot& snapshot() const { return chosen_->decoder.snapshot(); }
  const std::vector<RecordedMapping>& mappings() const { return chosen_->decoder.mappings(); }
  RecordedNames& names() { return chosen_->decoder.names(); }
  /// The version of the hawktrace that wrote it.
  const std::string& writer() const { return chosen_->decoder.writer(); }
  /// The intervals among those read that were written out of turn.
  const std::vector<RecordedDump>& dumps() const { return chosen_->dumps; }
  /// How many intervals have been read.
  std::uint64_t intervals() const { return chosen_ == nullptr ? 0 : chosen_->intervals; }
  /// Why the recording has no more intervals than those that were read, where it should: "it is cut off ...". Empty:
  /// it was ended, or `until_ns` ended the reading.
  std::string what_is_missing() const;

 private:
  RecordingReader(UniqueFd file, std::string path, std::uint64_t max_memory_bytes)
      : path_(std::move(path)),
        file_(std::move(file)),
        chunks_(file_.get()),
        budget_(std::make_unique<std::uint64_t>(max_memory_bytes)) {}

  struct Trace {
    explicit Trace(std::uint64_t& budget) : decoder(budget) {}

    recording::IntervalDecoder decoder;
    std::vector<RecordedDump> dumps;
    std::uint64_t intervals = 0;
    bool ended_by_time = false;
  };
  Trace& trace_of(recording::TraceNumber number);
  Result<void> take(Trace& trace, const std::string& interval);

  std::string path_;
  UniqueFd file_;
  recording::ChunkReader chunks_;
  std::unique_ptr<std::uint64_t> budget_;  ///< of all traces together, in bytes
  std::map<recording::TraceNumber, std::unique_ptr<Trace>> traces_;
  Trace* chosen_ = nullptr;  ///< one of these that has an interval
};

}  // namespace hawk
