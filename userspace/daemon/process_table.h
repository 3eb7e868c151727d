#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <vector>

#include "userspace/selection/proc_root.h"
#include "userspace/selection/process_facts.h"

namespace hawk {

/// The processes of this machine, without those that we have started. To read the facts of all takes milliseconds, and
/// a process changes what it is while it is young: those that are older than that are read again only when all are.
class ProcessTable {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// Reads the facts of new and young processes; with `all`, of every one.
  void look(const ProcRoot& proc, int own_pid, bool all, Time now);

  /// Those that were read by the last look().
  std::vector<ProcessFacts> fresh() const;
  std::vector<ProcessFacts> all() const;
  bool has_young(Time now) const;

  static constexpr std::chrono::seconds kYoung{3};

 private:
  struct Known {
    std::optional<ProcessFacts> facts;  ///< nullopt: a kernel thread, or one of ours
    Time first_seen{};
    bool is_fresh = false;
  };
  static void read_again(Known& known, const ProcRoot& proc, int pid, Time now);

  std::map<int, Known> known_;
};

}  // namespace hawk
