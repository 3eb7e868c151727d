#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "userspace/base/result.h"
#include "userspace/base/unique_fd.h"
#include "userspace/recording/chunk_file.h"
#include "userspace/recording/interval_encoder.h"
#include "userspace/recording/recording.h"

namespace hawk {

/// Writes a recording of one trace or several, an interval at a time. The file only grows, by whole intervals: whatever
/// ends us, what was written until then can be read. An interval that does not fit on the disk is taken off again.
class RecordingWriter {
 public:
  /// Creates the file. One that is there already is refused, or removed first with `overwrite`; nothing but a regular
  /// file is. Fails with kFile.
  static Result<RecordingWriter> create(const std::string& path, bool overwrite);

  /// The number of a trace that begins now. Its intervals may come in any order with those of others; the first says
  /// when it began and of which process it is, and finish() ends it alone. Each has losses, and is exact or not, by
  /// itself. nullopt: the file holds kMaxTraces; another file is to be begun.
  std::optional<recording::TraceNumber> begin_trace();

  /// Appends what is new since the last time. Fails with kFile; the file can be read all the same. A file of one trace
  /// needs no begin_trace().
  Result<void> append(const RecordedState& state, recording::TraceNumber trace = 0) {
    return write(state, false, trace);
  }
  /// The same, for the last time of this trace, which takes no memory from then on.
  Result<void> finish(const RecordedState& state, recording::TraceNumber trace = 0) {
    return write(state, true, trace);
  }

  const std::string& path() const { return path_; }
  std::uint64_t size_bytes() const { return size_; }

 private:
  RecordingWriter(std::string path, UniqueFd file) : path_(std::move(path)), file_(std::move(file)) {}
  Result<void> write(const RecordedState& state, bool is_end, recording::TraceNumber trace);
  Result<void> append_bytes(const std::string& bytes);

  std::string path_;
  UniqueFd file_;
  std::uint64_t size_ = 0;                                                 ///< of what is complete
  std::map<recording::TraceNumber, recording::IntervalEncoder> encoders_;  ///< of traces that have not ended
  std::vector<bool> has_ended_;                                            ///< of all traces so far
};

}  // namespace hawk
