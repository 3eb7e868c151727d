#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bpf/mapping_events.h"
#include "userspace/process/mappings.h"

namespace hawk {

/// The program that a process began to run.
struct ExecEvent {
  std::string comm;
  std::string path;                 ///< of the executable file; empty: unknown
  std::size_t mappings_before = 0;  ///< so many of MappingChanges::mapped were told before it
};

/// What happened to a process's mappings since the last look.
struct MappingChanges {
  std::vector<Mapping> mapped;         ///< of code, in order of time; some more than once, and some gone again
  std::optional<ExecEvent> last_exec;  ///< all mappings from before it are gone
  std::size_t execs = 0;               ///< so many programs were begun
  bool read_all = false;               ///< not all is told here: read the whole list

  /// Those of `mapped` that are of the program that runs now. Its own file is mapped before the exec is told.
  std::vector<Mapping> of_last_program() const;
};

/// Sorts what the programs tell of mappings by process: the records of all targets come through one ring.
class MappingRouter {
 public:
  /// Keeps what is told of process `pid` from now on. Of others nothing is kept.
  void follow(int pid) { changes_.try_emplace(pid); }
  void forget(int pid) { changes_.erase(pid); }

  void add(const hawk_mapping_event& event);
  /// Records were lost, and of which process is not known.
  void note_lost();
  /// What was told of the process since the last call; nothing of one that is not followed.
  MappingChanges take(int pid);

 private:
  std::map<int, MappingChanges> changes_;
};

}  // namespace hawk
