#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "symbolizer/symbolizer.h"
#include "userspace/attach/perf_map_finder.h"
#include "userspace/attach/probing.h"
#include "userspace/attach/thread_watch.h"
#include "userspace/attach/trace_config.h"
#include "userspace/attach/tracing_usage.h"
#include "userspace/base/result.h"
#include "userspace/base/signal_source.h"
#include "userspace/launch/launch.h"
#include "userspace/study/confined_symbolizer.h"
#include "userspace/tables/heap_model.h"
#include "userspace/tables/snapshot.h"
#include "userspace/tracer/mapping_events.h"
#include "userspace/tracer/tracer.h"

namespace hawk {

/// One trace of one process, from its first probe to its last number. Single-threaded.
class ProcessTrace {
 public:
  /// Loads the programs and puts every probe in place; nothing counts yet. `command`: the child to trace, which still
  /// waits for its start; nullptr to trace config.pid.
  static Result<std::unique_ptr<ProcessTrace>> make(const TraceConfig& config, LaunchedCommand* command);

  /// From here on allocations count.
  void begin();
  /// Reads the kernel's maps into the model.
  void drain();
  /// Keeps up with the target's mappings. To be called when mapping_fd() is readable.
  void take_mapping_events();
  /// Removes the probes and reads the maps a last time. `reads_symbols`: symbolizer() will be used after that, so some
  /// symbols are read while the probes are being removed.
  Result<void> end(bool verify, bool reads_symbols);

  /// Whether end() has been called: no probe is left.
  bool has_ended() const { return !is_probed(); }

  /// The sums over all stacks as of the last drain.
  const Counters& totals() const { return model_.totals(); }
  /// The state of the heap as of the last drain.
  Snapshot snapshot();
  /// Knows every module of snapshot().
  Symbolizer& symbolizer();
  /// See ConfinedSymbolizer. Not after an end() that reads symbols.
  void find_debug_files_with(DebugFileFinder finder) { symbolizer_.find_debug_files_with(std::move(finder)); }

  /// Where code of which module of snapshot() is mapped now, as far as is known: by address, not overlapping.
  const std::vector<MappedCode>& code() const { return probing_.modules().code(); }

  int pid() const { return subject_.target.pid; }
  /// Readable when adjust_memory() is due.
  int wakeup_fd() const { return engine_->wakeup_fd(); }
  /// Gives the kernel side the memory it asks for.
  void adjust_memory() { engine_->adjust_memory(); }
  int mapping_fd() const { return mapping_events_.poll_fd(); }
  /// Readable once the target has ended.
  int pid_fd() const { return pid_fd_.get(); }
  /// What comes later is missing in the numbers, which are not exact then.
  void note_ended_early() { tracer_.count_loss(HAWK_LOSS_ENDED_EARLY); }
  void note_target_exited() { target_exited_ = true; }

 private:
  /// Until end().
  bool is_probed() const { return duration_ == std::chrono::nanoseconds{}; }
  /// Since the trace began.
  std::chrono::nanoseconds elapsed() const;
  /// How probes are attached.
  struct Probes {
    AttachWay way = AttachWay::kSession;
    bool by_plan = false;  ///< functions that have a plan are followed by it, and only the others by `way`
  };
  /// Who is traced, as known before anything is loaded.
  struct Subject {
    TargetInfo target;
    int proc_pid = 0;  ///< a living thread, whose /proc directory is not empty as that of an exited main thread is
    bool main_thread_lives = true;
    std::uint32_t own_execs = 0;              ///< execs that are our own doing: 1 for a command
    std::vector<std::string> expected_files;  ///< that a command will map
  };

  ProcessTrace(Subject subject, UniqueFd pid_fd, Probes probes, UnwindMethod unwind, std::unique_ptr<Engine> engine,
               Tracer tracer, MappingEvents mapping_events, std::unique_ptr<FileReader> files);
  static Result<Subject> subject_of(const TraceConfig& config, const LaunchedCommand* command);
  static Result<void> name_program(TargetInfo& target);
  static std::vector<ReadAhead::Source> files_to_read(const Subject& subject, bool is_command);
  Result<void> probe_running_process();
  std::string no_allocator_text() const;
  void take_mappings_again();
  void close_unmapped_files();
  void read_memory();
  void begin_reading_symbols();
  void symbolize(ModuleId id);

  Subject subject_;
  UniqueFd pid_fd_;
  Probes probes_;
  UnwindMethod unwind_;
  std::unique_ptr<Engine> engine_;
  Tracer tracer_;
  MappingEvents mapping_events_;
  Probing probing_;
  HeapModel model_;
  SharedTable<Module> modules_;  ///< of all snapshots
  std::optional<ProcessMemory> memory_;
  ThreadWatch threads_;
  UsageMeter meter_;
  std::optional<TracingUsage> usage_;
  PerfMapFinder perf_map_;
  ConfinedSymbolizer symbolizer_;
  std::size_t symbolized_modules_ = 0;  ///< of the used ones
  std::set<ModuleId> symbolized_;
  std::chrono::system_clock::time_point start_wall_;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point closed_at_{};  ///< files that were not mapped any more
  std::chrono::nanoseconds duration_{};
  std::chrono::nanoseconds interval_{};
  TraceLimits limits_;
  std::chrono::nanoseconds longest_drain_{};
  bool exec_was_told_ = false;  ///< one that no drain has seen yet
  bool target_exited_ = false;
  std::optional<bool> verified_;
  std::jthread reading_symbols_;  ///< until it has ended, symbolizer_ is its own. Ends before all that it uses
};

}  // namespace hawk
