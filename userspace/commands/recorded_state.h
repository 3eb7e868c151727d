#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "userspace/attach/process_trace.h"
#include "userspace/recording/recording.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// What of a trace goes into a recording beside its snapshots, interval by interval: mappings, and the names that are
/// new or have changed.
class RecordedStates {
 public:
  /// `symbols`: names of code in files too, not only of that in none, which no file has later.
  explicit RecordedStates(bool symbols) : symbols_(symbols) {}

  /// As of now. `snapshot` is the trace's, and must outlive what is returned.
  RecordedState next(const Snapshot& snapshot, ProcessTrace& trace);

 private:
  void add_names_in_no_file(const Snapshot& snapshot, Symbolizer& symbolizer, RecordedState& state);
  void add_names(const Snapshot& snapshot, Symbolizer& symbolizer, RecordedState& state);
  void add_modules(Symbolizer& symbolizer, RecordedState& state);

  bool symbols_;
  std::map<ModuleId, std::set<std::uint64_t>> named_;  ///< offsets
  std::map<ModuleId, NamedModule> modules_;
  std::map<std::uint64_t, std::vector<SourceFrame>> in_no_file_;
};

}  // namespace hawk
