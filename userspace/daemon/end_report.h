#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <string>

#include "userspace/daemon/journal.h"
#include "userspace/daemon/process_end.h"
#include "userspace/daemon/target_state.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// Says in the journal how processes of targets have ended, and what they held. Of a target that restarts all the time
/// only some ends are said.
class EndReporter {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit EndReporter(Journal journal) : journal_(std::move(journal)) {}

  /// `last`: the last snapshot of the trace; `file`: the recording that it is in, empty: it is in none.
  void report(const TargetState& target, const TargetProcess& process, const ProcessEnd& end, const Snapshot& last,
              const std::string& file, Time now);
  /// The end of a process that was not traced.
  void report_untraced(const TargetState& target, const TargetProcess& process, const ProcessEnd& end, Time now);

  static constexpr std::size_t kMostInAMinute = 6;

 private:
  bool may_report(const std::string& target, bool is_crash, Time now);
  void write(const TargetState& target, const TargetProcess& process, const ProcessEnd& end, std::string message,
             const std::string& file);

  Journal journal_;
  /// When ends were reported in the last minute, by target and whether they were crashes.
  std::map<std::pair<std::string, bool>, std::deque<Time>> reported_;
};

}  // namespace hawk
