#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
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
/// is asked is answered of one of them, the first unless another is chosen, or of all together.
class RecordingReader {
 public:
  /// The most memory that a recording may take.
  static constexpr std::uint64_t kMaxMemoryBytes = std::uint64_t{2} << 30;

  /// Opens a regular file. Fails with kFile, also if it is no recording, or one of a later version.
  static Result<RecordingReader> open(const std::string& path, std::uint64_t max_memory_bytes = kMaxMemoryBytes);
  /// The same for a file that is open. `path`: its name, for messages.
  static Result<RecordingReader> open(UniqueFd file, const std::string& path,
                                      std::uint64_t max_memory_bytes = kMaxMemoryBytes);

  /// Is handed each interval as it is read: which trace it is of, and the state at its end.
  using Observer = std::function<void(recording::TraceNumber trace, const Snapshot& now)>;
  /// Reads intervals up to the last one that ends no later than `until_ns` after the first trace began, whichever trace
  /// it is of; nullopt: up to the last. Fails with kFile if there is none, or if one makes no sense although it is what
  /// was written.
  Result<void> read(std::optional<std::uint64_t> until_ns = std::nullopt, const Observer& observer = {});

  /// A trace of which there is an interval.
  struct Target {
    recording::TraceNumber trace = 0;
    const Snapshot& last;        ///< its state as of the last interval that was read
    std::uint64_t began_ns = 0;  ///< since the first trace began
    std::uint64_t last_ns = 0;   ///< the end of the last interval, counted from there too
    bool has_ended = false;      ///< it was ended, by its process or by people, and all of it was read
  };
  /// In the order in which they began to be written.
  std::vector<Target> targets() const;
  /// Which trace what is said below is of; nullopt: all of them.
  std::optional<recording::TraceNumber> chosen() const;
  /// From now on it is of one of targets().
  void choose(recording::TraceNumber trace);
  /// The same, of all of them together: see SnapshotMerger. Fails with kFile if they cannot be summed up.
  Result<void> choose_all();

  /// As of the last interval that was read.
  const Snapshot& snapshot() const;
  /// Of all together: those of the first.
  const std::vector<RecordedMapping>& mappings() const { return chosen_->decoder.mappings(); }
  RecordedNames& names();
  /// The version of the hawktrace that wrote it.
  const std::string& writer() const { return chosen_->decoder.writer(); }
  /// The intervals among those read that were written out of turn. Of all together: those of every trace.
  const std::vector<RecordedDump>& dumps() const;
  /// How many intervals have been read.
  std::uint64_t intervals() const;
  /// Why the recording has no more intervals than those that were read, where it should: "it is truncated ...". Empty:
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
    std::uint64_t began_ns = 0;  ///< since the first trace began
    bool ended_by_time = false;
    bool has_ended = false;
  };
  /// All traces as one.
  struct All {
    Snapshot snapshot;
    RecordedNames names;
    std::vector<RecordedDump> dumps;
    std::uint64_t intervals = 0;
  };
  Result<void> take(const recording::ChunkReader::Interval& interval, std::optional<std::uint64_t> until_ns,
                    const Observer& observer);
  Result<void> decode(Trace& trace, const std::string& interval);
  Error malformed(const Trace& trace) const;

  std::string path_;
  UniqueFd file_;
  recording::ChunkReader chunks_;
  std::unique_ptr<std::uint64_t> budget_;  ///< of all traces together, in bytes
  std::map<recording::TraceNumber, std::unique_ptr<Trace>> traces_;
  std::vector<recording::TraceNumber> order_;  ///< those with an interval, as they began
  std::uint64_t start_unix_ns_ = 0;            ///< of the first trace
  std::uint64_t live_bytes_ = 0;               ///< of all traces, now
  std::set<recording::TraceNumber> round_;     ///< whose intervals of the last drain have been read
  std::uint64_t peak_live_bytes_ = 0;          ///< the most that this was
  std::optional<std::uint64_t> sum_most_;      ///< and the most that it can have been; nullopt: not known
  std::optional<std::uint64_t> too_late_ns_;   ///< the end of the first interval behind the time that was asked for
  Trace* chosen_ = nullptr;                    ///< one of these that has an interval
  std::optional<All> all_;                     ///< in place of `chosen_`, if all are
};

}  // namespace hawk
