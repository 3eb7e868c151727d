#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "userspace/selection/process_matcher.h"
#include "userspace/selection/process_search.h"

namespace hawk {

/// Finds the processes that begin to match after the first ones were found. One that is about to run another program
/// matches before it is ready to be traced: it is found again until it is traced, or given up.
class ProcessWatch {
 public:
  /// Those of `found` are traced.
  explicit ProcessWatch(FoundProcesses found);

  /// Those of `processes`, which are all there are, that match, are not traced, and are not given up.
  std::vector<ProcessFacts> take_new(std::vector<ProcessFacts> processes);
  /// Of those that take_new() has found: this one is traced, and will be whatever it runs.
  void note_traced(const ProcessFacts& process) { known_[process.pid].is_traced = true; }
  /// This one cannot be traced. Whether it is given up now, as long as it runs that file.
  bool note_failed(const ProcessFacts& process) { return ++known_[process.pid].failures == kMostTries; }
  /// Whether a process has been found that is neither traced nor given up.
  bool has_open() const;

  static constexpr std::size_t kMostTries = 20;

 private:
  struct Known {
    std::uint64_t start_ticks = 0;
    std::string executable;
    bool is_traced = false;
    std::size_t failures = 0;
  };

  ProcessMatcher matcher_;
  std::map<int, Known> known_;  ///< by number: those that match, or did when they were found
};

}  // namespace hawk
