#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "userspace/base/result.h"
#include "userspace/process/mappings.h"

struct ring_buffer;

namespace hawk {

/// The program that a process began to run.
struct ExecEvent {
  std::string comm;
  std::string path;  ///< of the executable file; empty: unknown
};

/// What happened to a process's mappings since the last look.
struct MappingChanges {
  std::vector<Mapping> mapped;         ///< of code, in order of time; some more than once, and some gone again
  std::optional<ExecEvent> last_exec;  ///< all mappings from before it are gone
  bool read_all = false;               ///< not all is told here: read the whole list
};

/// The announcements of new executable mappings of the traced process by our programs (bpf/mapping_events.bpf.h). They
/// arrive while the process goes on, so that a file can be opened before it is unmapped or the process ends. Of other
/// processes nothing arrives.
class MappingEvents {
 public:
  /// Where they come from; belongs to the programs, which must live longer.
  struct Source {
    int ring_fd = -1;                     ///< the map mapping_events
    const std::uint32_t* lost = nullptr;  ///< counts those for which that had no room
  };
  static Result<MappingEvents> make(const Source& source);

  /// Readable when there is something to take.
  int poll_fd() const;
  MappingChanges take();

 private:
  MappingEvents() = default;

  struct FreeRing {
    void operator()(ring_buffer* ring) const;
  };

  std::unique_ptr<ring_buffer, FreeRing> ring_;
  std::unique_ptr<MappingChanges> taken_;  ///< what the ring's callback fills
  const std::uint32_t* lost_ = nullptr;
  std::uint32_t lost_seen_ = 0;
};

}  // namespace hawk
