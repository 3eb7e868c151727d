#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "symbolizer/symbolizer.h"
#include "userspace/base/result.h"
#include "userspace/tables/counters.h"
#include "userspace/tables/losses.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// A process of a served target, as long as it lives.
struct ServedProcess {
  int pid = 0;
  std::string comm;
  std::string exe;
  std::uint64_t start_unix_ns = 0;
  std::string state;  ///< "traced", "watched", "left out: no allocator found"
  std::optional<ProcessMemory> memory = {};
  Counters totals = {};  ///< since it is traced
  bool numbers_exact = true;
};

/// The memory of a target's cgroup.
struct CgroupMemory {
  std::uint64_t current_bytes = 0;
  std::optional<std::uint64_t> max_bytes = {};  ///< nullopt: no limit
  std::uint64_t oom_kills = 0;
};

/// What one entry of the configuration has come to: all processes that it matches, together. What is called monotonic
/// never falls while the daemon runs, whichever processes come and go.
struct ServedTarget {
  std::string name;   ///< of the entry; no other one has it
  std::string mode;   ///< "exact", "watch", "off"
  std::string state;  ///< "idle", "watching", "tracing", "over budget": one of a few, as a label of metrics
  std::optional<std::uint64_t> retry_ns = {};  ///< over budget: when tracing is tried again
  std::vector<ServedProcess> processes = {};
  Counters totals = {};              ///< monotonic: of ended processes and past traces as well
  std::uint64_t live_bytes = 0;      ///< of the processes that are traced now
  std::uint64_t live_count = 0;      ///< the same
  std::uint64_t processes_seen = 0;  ///< monotonic, as is the rest of these
  std::uint64_t processes_ended = 0;
  std::uint64_t processes_crashed = 0;
  std::uint64_t oom_kills = 0;
  std::uint64_t traces_begun = 0;
  std::uint64_t budget_detaches = 0;  ///< times that tracing was given up because it cost too much
  Losses losses = {};                 ///< monotonic
  std::uint64_t calls = 0;            ///< of the allocator, monotonic
  double overhead = 0;                ///< of tracing in the target, as a share of one CPU: in the last interval
  std::optional<std::uint64_t> cost_per_call_ns = {};
  std::optional<CgroupMemory> cgroup = {};
  std::string last_recording = {};  ///< its path; empty: there is none
  std::uint64_t recording_bytes = 0;
};

/// What the daemon itself takes and does.
struct ServedHost {
  std::uint64_t start_unix_ns = 0;
  std::uint64_t cpu_ns = 0;            ///< of the daemon and the processes that it reads files with; monotonic
  std::uint64_t resident_bytes = 0;    ///< of the same
  std::uint64_t heap_bytes = 0;        ///< of the daemon: what it has allocated and not freed
  std::uint64_t table_bytes = 0;       ///< of the kernel's tables
  std::uint64_t drains = 0;            ///< monotonic
  std::uint64_t longest_drain_ns = 0;  ///< so far
  std::uint64_t reloads = 0;           ///< of the configuration; monotonic
  std::string config_path;
};

/// A heap, to be read by another thread while tracing goes on.
struct ServedHeap {
  /// Of the processes that are traced now. Parts and shares say what is whose, unless there is one process only.
  Snapshot snapshot;
  /// Knows the modules of `snapshot`, and owns all that it needs: the target may end meanwhile. The symbolizers of
  /// heaps are used one after the other, never two at the same time, and always by the same thread, which is not the
  /// one that calls heap().
  std::shared_ptr<Symbolizer> symbolizer;
};

/// What is served, as seen by the server; the daemon implements it. Each function is called by the thread of the event
/// loop and must not wait for anything that a target can delay.
class ServedTargets {
 public:
  virtual ~ServedTargets() = default;

  /// In the order of the configuration.
  virtual std::vector<ServedTarget> targets() const = 0;
  virtual ServedHost host() const = 0;
  /// The heap as of a drain made now. kNoTarget: there is no target of that name, or nothing of it is traced; `what`
  /// says which.
  virtual Result<ServedHeap> heap(const std::string& target) = 0;
  /// For `hawktrace status`: text for people.
  virtual std::string status_text() const = 0;
};

}  // namespace hawk
