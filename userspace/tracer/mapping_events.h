#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "userspace/base/result.h"
#include "userspace/base/unique_fd.h"
#include "userspace/target/mappings.h"

namespace hawk {

/// The program that a process began to run.
struct ExecEvent {
  std::string comm;
  std::string path;  ///< of the executable file
};

/// What happened to a process's mappings since the last look.
struct MappingChanges {
  std::vector<Mapping> mapped;         ///< executable mappings, in order of time within one CPU
  std::optional<ExecEvent> last_exec;  ///< all mappings from before it are gone
  bool lost = false;                   ///< the kernel had to drop records: read the whole list instead
};

/// The kernel's announcements of new executable mappings of one process: PERF_RECORD_MMAP2 of a software event that
/// never counts (perf_event_open(2), PERF_COUNT_SW_DUMMY), one per CPU. They arrive while the process goes on, so that
/// a file can be opened before it is unmapped or the process ends.
class MappingEvents {
 public:
  static Result<MappingEvents> make(int pid);
  MappingEvents(MappingEvents&&) noexcept;
  MappingEvents& operator=(MappingEvents&&) noexcept;
  ~MappingEvents();

  /// Readable when there is something to take.
  int poll_fd() const { return epoll_.get(); }
  MappingChanges take();

 private:
  struct Ring;
  MappingEvents();
  Result<void> add_cpu(int cpu);

  int pid_ = 0;
  UniqueFd epoll_;
  std::vector<Ring> rings_;
};

}  // namespace hawk
