#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "userspace/attach/process_trace.h"
#include "userspace/attach/shared_tracing.h"
#include "userspace/attach/trace_config.h"
#include "userspace/base/result.h"
#include "userspace/launch/launch.h"
#include "userspace/tables/drained.h"

namespace hawk {

/// Traces of processes, in the order in which they were added.
using Traces = std::vector<std::unique_ptr<ProcessTrace>>;

/// The traces of processes by one set of programs in the kernel, which is loaded and verified once. Processes can be
/// added, and traces ended and removed, at any time. Single-threaded.
class TraceGroup {
 public:
  explicit TraceGroup(const TraceConfig& config) : shared_(config) {}

  /// Every probe in place in the running process, nothing counted yet: ProcessTrace::begin() is next. The first one
  /// takes longer, for the programs are loaded then. A failure leaves nothing behind, and the others as they were.
  /// `waits`: a process that has no allocator may be about to map one, and gets half a second for that.
  Result<ProcessTrace*> add(int pid, bool waits = true);
  /// The same for a child that still waits for its start (TraceConfig::command).
  Result<ProcessTrace*> add(const LaunchedCommand& command);
  /// Those of processes that others have started (TraceConfig::follows_children) are added by the functions below, and
  /// have begun then.
  const Traces& traces() const { return traces_; }

  /// Loads the programs, unless they are: so that processes can be seen to begin before the first is added.
  Result<void> load() { return shared_.load(); }
  /// What traps cost on this machine; nullopt: not measured. That begins with load() and takes up to half a second,
  /// for the rest of which a call waits.
  const std::optional<ProbeCosts>& costs() { return shared_.costs(); }

  // What follows: once the programs are loaded.
  /// Reads the kernel's maps into the traces, and sees to what is due now and then.
  void drain();
  /// After a drain: snapshots tell of the lives of blocks, until the next drain.
  Result<void> read_lives();
  /// Begins a generation of blocks. Returns its number: that of what was allocated before the first mark is 0.
  std::size_t mark();
  /// See Engine::processes_begun.
  std::uint32_t processes_begun() { return shared_.engine().processes_begun(); }
  /// Readable when adjust_memory() is due.
  int wakeup_fd() { return shared_.engine().wakeup_fd(); }
  /// Gives the kernel side the memory it asks for.
  void adjust_memory() { shared_.engine().adjust_memory(); }
  /// Readable when take_mapping_events() is due.
  int mapping_fd() { return shared_.mapping_events().poll_fd(); }
  /// Bytes of memory that the kernel's tables take, as of the last drain.
  std::uint64_t table_bytes() const { return shared_.table_bytes(); }
  /// See Engine.
  bool is_filling_up() { return shared_.engine().is_filling_up(); }
  /// Keeps up with the targets' mappings.
  void take_mapping_events();

  struct EndOptions {
    bool verify = false;
    bool reads_symbols = false;  ///< see ProcessTrace::begin_end
    bool reads_lives = false;    ///< snapshots tell of the lives of blocks, as with TraceConfig::reads_lives
  };
  /// Removes the probes of these traces, none of which has ended, and reads the maps a last time for them. What they
  /// took in the kernel is free for others; they can still be asked for all that they know.
  Result<void> end(std::span<ProcessTrace* const> ending, EndOptions options);
  /// Ends all that have not ended. No other can be added after that.
  Result<void> end_all(EndOptions options);
  /// Forgets all of one trace, whether it has ended or not.
  void remove(ProcessTrace& trace);

 private:
  void adopt_births();
  std::vector<ProcessTrace*> probed() const;
  /// It may run another program by now; nullptr: it has ended.
  const ProcessTrace* maker_of(const Birth& birth) const;
  Result<ProcessTrace*> keep(Result<std::unique_ptr<ProcessTrace>> made);
  void read_maps();
  static void begin_end(std::span<ProcessTrace* const> ending, EndOptions options);
  void remove_probes(std::span<ProcessTrace* const> ending);
  Result<void> finish(std::span<ProcessTrace* const> ending, EndOptions options);

  SharedTracing shared_;
  Traces traces_;
  std::vector<ProcessTrace*> held_;  ///< those of them that have a place in the kernel; a service may have had 100,000
};

}  // namespace hawk
