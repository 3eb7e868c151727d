#include "userspace/daemon/process_table.h"

#include <algorithm>
#include <utility>

namespace hawk {

/// Another process may have its number.
void ProcessTable::read_again(Known& known, const ProcRoot& proc, int pid, Time now) {
  const std::uint64_t start_before = known.facts ? known.facts->start_ticks : 0;
  known.facts.reset();
  if (auto facts = read_facts(proc, pid)) known.facts.emplace(std::move(*facts));
  if (known.facts && start_before != 0 && known.facts->start_ticks != start_before) known.first_seen = now;
}

void ProcessTable::look(const ProcRoot& proc, int own_pid, bool all, Time now) {
  std::map<int, Known> living;
  for (const int pid : proc.pids()) {
    const auto before = known_.find(pid);
    Known known;
    if (before != known_.end()) known = std::move(before->second);
    if (before == known_.end()) known.first_seen = now;
    known.is_fresh = all || now - known.first_seen < kYoung;
    if (known.is_fresh) {
      read_again(known, proc, pid, now);
      if (known.facts && (known.facts->pid == own_pid || known.facts->parent == own_pid)) known.facts.reset();
    }
    living.emplace(pid, std::move(known));
  }
  known_ = std::move(living);
}

std::vector<ProcessFacts> ProcessTable::fresh() const {
  std::vector<ProcessFacts> facts;
  for (const auto& [pid, known] : known_) {
    if (known.is_fresh && known.facts) facts.push_back(*known.facts);
  }
  return facts;
}

std::vector<ProcessFacts> ProcessTable::all() const {
  std::vector<ProcessFacts> facts;
  for (const auto& [pid, known] : known_) {
    if (known.facts) facts.push_back(*known.facts);
  }
  return facts;
}

bool ProcessTable::has_young(Time now) const {
  return std::any_of(known_.begin(), known_.end(),
                     [now](const auto& entry) { return entry.second.facts && now - entry.second.first_seen < kYoung; });
}

}  // namespace hawk
