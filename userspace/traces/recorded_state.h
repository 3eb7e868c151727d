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

/// The parts of a recording in addition to snapshots, for each interval: mappings, and new or changed
/// names.
class RecordedStates {
 public:
  /// `symbols`: also names of code in files, not only of code outside files, which cannot be looked up later.
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
