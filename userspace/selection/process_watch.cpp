#include "userspace/selection/process_watch.h"

#include <algorithm>

namespace hawk {

ProcessWatch::ProcessWatch(FoundProcesses found) : matcher_(std::move(found.matcher)) {
  for (const ProcessFacts& process : found.processes) {
    known_[process.pid] = {.start_ticks = process.start_ticks, .executable = process.executable, .is_traced = true};
  }
}

std::vector<ProcessFacts> ProcessWatch::take_new(std::vector<ProcessFacts> processes) {
  std::map<int, Known> known;
  std::vector<ProcessFacts> found;
  for (ProcessFacts& process : processes) {
    Known now = {.start_ticks = process.start_ticks, .executable = process.executable};
    const auto before = known_.find(process.pid);
    if (before != known_.end() && before->second.start_ticks == process.start_ticks) {
      now.is_traced = before->second.is_traced;
      if (before->second.executable == process.executable) now.failures = before->second.failures;
    }
    const bool matches = matcher_.matches(process);
    if (!matches && !now.is_traced) continue;
    const bool is_new = !now.is_traced && now.failures < kMostTries;
    known.emplace(process.pid, std::move(now));
    if (is_new) found.push_back(std::move(process));
  }
  known_ = std::move(known);
  return found;
}

bool ProcessWatch::has_open() const {
  return std::any_of(known_.begin(), known_.end(), [](const auto& process) {
    return !process.second.is_traced && process.second.failures < kMostTries;
  });
}

}  // namespace hawk
