#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "userspace/attach/process_trace.h"
#include "userspace/daemon/config.h"
#include "userspace/daemon/recording_retention.h"
#include "userspace/tables/counters.h"
#include "userspace/traces/dump_triggers.h"
#include "userspace/traces/trace_recording.h"

namespace hawk {

/// The recordings of one target, in a directory of its own. What cannot be written is said once, and tried again with
/// the next interval; the trace goes on.
class TargetRecorder {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// `directory`: of all targets.
  TargetRecorder(const std::string& target, const RecordingRules& rules, const std::string& directory);
  void set_rules(const RecordingRules& rules);

  /// To be called after each drain: records an interval of each trace if one is due. Calls `read_lives` before one that
  /// is to have the lives of blocks.
  void record_if_due(const std::vector<ProcessTrace*>& traces, const Counters& totals, Time now,
                     const std::function<void()>& read_lives);
  /// Records an interval of each trace now, as far as that is done by `deadline`. Whether all are on the disk.
  bool record_now(const std::vector<ProcessTrace*>& traces, Time deadline);
  /// The last interval of a trace. Whether it is on the disk.
  bool end(ProcessTrace& trace, const Snapshot& last);
  /// The trace has gone without an end.
  void end_file();
  /// Removes what is older, or more, than is to be kept.
  void remove_old();

  /// Of the last file that was written; empty: there is none.
  const std::string& last_path() const { return last_path_; }
  /// Of all files, when they were last looked at, with what has been written since.
  std::uint64_t size_bytes() const { return kept_bytes_ + recording_.size_bytes(); }

 private:
  std::string next_path();
  void give_up_removed_file();
  /// Whether it was done.
  bool succeeds(const Result<void>& written);

  std::string target_;
  std::string directory_;
  RecordingRules rules_;
  AgeClock clock_;
  TraceRecording recording_;
  DumpTriggers triggers_;
  Time next_{};
  Time checked_{};
  std::string last_path_;
  std::uint64_t kept_bytes_ = 0;
  bool has_failed_ = false;  ///< which has been said
};

}  // namespace hawk
