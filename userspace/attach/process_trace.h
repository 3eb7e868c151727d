#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "symbolizer/symbolizer.h"
#include "userspace/attach/perf_map_finder.h"
#include "userspace/attach/probing.h"
#include "userspace/attach/process_status.h"
#include "userspace/attach/region_watch.h"
#include "userspace/attach/shared_tracing.h"
#include "userspace/attach/thread_watch.h"
#include "userspace/attach/tracing_usage.h"
#include "userspace/base/result.h"
#include "userspace/base/signal_source.h"
#include "userspace/launch/launch.h"
#include "userspace/process/process.h"
#include "userspace/study/confined_symbolizer.h"
#include "userspace/tables/heap_model.h"
#include "userspace/tables/snapshot.h"
#include "userspace/tracer/tracer.h"

namespace hawk {

/// One trace of one process, from its first probe to its last number. Single-threaded. Made, fed and ended by a
/// TraceGroup.
class ProcessTrace {
 public:
  /// Loads the programs, if need be, and puts every probe into the running process; nothing counts yet. `waits`: see
  /// TraceGroup::add. `shared` must live longer.
  static Result<std::unique_ptr<ProcessTrace>> make(SharedTracing& shared, int pid, bool waits);
  /// The same for a child that still waits for its start.
  static Result<std::unique_ptr<ProcessTrace>> make(SharedTracing& shared, const LaunchedCommand& command);
  /// The trace of a process that one of the group has started, and that counts already: nothing is begun by this.
  /// `maker`: the trace of that one; nullptr: it has ended.
  static std::unique_ptr<ProcessTrace> adopt(SharedTracing& shared, const Birth& birth, const ProcessTrace* maker);
  /// Whether its process runs the program of this number (Tracer::program), or has run it.
  bool has_run(std::uint32_t program) const { return tracer_ && tracer_->has_run(program); }
  ProcessTrace(const ProcessTrace&) = delete;
  ProcessTrace& operator=(const ProcessTrace&) = delete;
  ~ProcessTrace();

  /// From here on allocations count.
  void begin();

  /// Its place in what Engine::drain() returns; nullopt: it has none any more.
  std::optional<std::uint32_t> number() const;
  /// The number of the program that it runs (Tracer::program); 0: it has let go.
  std::uint32_t program() const { return tracer_ ? tracer_->program() : 0; }
  /// Takes what a drain, which took so long, has read of the target, into the model. Returns the memory of the counters
  /// of the one before.
  std::vector<StackCounters> take(Drained drained, std::chrono::nanoseconds took);
  /// Takes what was read of the lives of its blocks, until the next drain.
  void take_lives(Lives lives);
  /// Keeps up with the target's mappings: to be called when something of them has been announced.
  void take_mapping_events();
  bool has_mapping_events() const;

  // The end, step by step, so that several traces can end together (TraceGroup::end).
  /// `reads_symbols`: symbolizer() will be used after that, so some symbols are read while the probes are being
  /// removed.
  void begin_end(bool reads_symbols);
  /// Whose probes are to be removed.
  Tracer& tracer() { return *tracer_; }
  bool target_has_exited() const { return target_exited_; }
  /// What was mapped last, an allocator perhaps, is counted in the maps that are read next.
  void look_a_last_time();
  /// After that drain: whether a loss has been counted, which the next drain has.
  bool note_late_losses();
  /// After the last drain.
  Result<void> verify();
  /// The target's place in the kernel may be another's.
  void let_go();

  /// Whether its end has begun: no probe is left, or will be in a moment.
  bool has_ended() const { return !is_probed(); }

  /// The sums over all stacks as of the last drain.
  const Counters& totals() const { return model_.totals(); }
  std::uint64_t frees_of_untraced() const { return model_.frees_of_untraced(); }
  /// Changes with the program that the process runs, of which the totals are.
  std::uint64_t exec_epoch() const { return model_.exec_epoch(); }
  const Losses& losses() const { return model_.losses(); }
  /// No more than was live at an instant during the last drain.
  std::uint64_t least_live_bytes() const { return model_.least_live_bytes(); }
  /// At no instant since the last call, and up to the last drain, was more live.
  std::uint64_t take_most_live_bytes();
  /// Keeps the state as of the last drain for snapshot_at_peak().
  void keep_peak();
  /// Whether a state is kept: not before the first keep_peak(), and not of a program that another has replaced.
  bool has_peak() const { return at_peak_.has_value(); }
  /// As of the last keep_peak(): nothing is live before the first one.
  Snapshot snapshot_at_peak();
  /// The state of the heap as of the last drain. `spare`: as HeapModel::snapshot takes it.
  Snapshot snapshot(SpareStacks spare = {});
  /// Knows every module of snapshot().
  Symbolizer& symbolizer();
  /// See ConfinedSymbolizer. Not after an end that reads symbols.
  void find_debug_files_with(DebugFileFinder finder) { symbolizer_.find_debug_files_with(std::move(finder)); }

  /// Where code of which module of snapshot() is mapped now, as far as is known: by address, not overlapping.
  const std::vector<MappedCode>& code() const { return probing_.modules().code(); }

  /// The file of a module of snapshot(), for another symbolizer than the trace's own.
  ModuleFile locate(ModuleId id);

  int pid() const { return subject_.target.pid; }
  /// Of a process that ends at once, what its maker or its own program was called may be all that is ever known.
  const std::string& comm() const { return subject_.target.comm; }
  /// See Probing.
  std::set<std::pair<std::uint64_t, std::uint64_t>> probed_files() const { return probing_.probed_files(); }
  /// Probes are about to be placed in all processes: breakpoints that this one is without by now would be there again.
  void check_breakpoints() {
    if (is_probed()) probing_.check_breakpoints(false);
  }
  /// The process that has started it, if that was traced then.
  std::optional<int> maker_pid() const { return subject_.maker_pid; }
  /// Readable once the target has ended; -1: it had when it was found.
  int pid_fd() const { return pid_fd_.get(); }
  /// What comes later is missing in the numbers, which are not exact then.
  void note_ended_early();
  void note_target_exited() { target_exited_ = true; }

 private:
  /// Until begin_end().
  bool is_probed() const { return duration_ == std::chrono::nanoseconds{}; }
  /// Since the trace began.
  std::chrono::nanoseconds elapsed() const;
  /// Who is traced, as known before anything is loaded.
  struct Subject {
    TargetInfo target;
    int proc_pid = 0;  ///< a living thread, whose /proc directory is not empty as that of an exited main thread is
    bool main_thread_lives = true;
    std::uint32_t own_execs = 0;              ///< execs that are our own doing: 1 for a command
    bool is_child = false;                    ///< started by another target, and traced since
    std::optional<int> maker_pid = {};        ///< of that one, if it had not ended
    std::vector<std::string> expected_files;  ///< that a command will map
  };

  ProcessTrace(SharedTracing& shared, Subject subject, UniqueFd pid_fd, Tracer tracer, const Probing* maker);
  static Subject subject_of(const Birth& birth, const ProcessTrace* maker);
  void begin_as_child(const Birth& birth);
  static Result<Subject> subject_of(int pid);
  static Result<Subject> subject_of(const LaunchedCommand& command, const std::vector<std::string>& words);
  /// `reads`: files that will be probed.
  static Result<std::unique_ptr<ProcessTrace>> begin_target(SharedTracing& shared, Subject subject,
                                                            ProcessHandle process,
                                                            std::vector<ReadAhead::Source> reads);
  static std::vector<ReadAhead::Source> files_to_read(const Subject& subject);
  Result<void> probe_running_process(bool waits);
  std::string no_allocator_text() const;
  void take_mappings_again();
  void close_unmapped_files();
  void read_memory();
  void update_regions(const Losses& losses);
  void begin_reading_symbols();
  void symbolize(ModuleId id);
  /// All but the heap.
  Snapshot with_trace(Snapshot snapshot);

  Subject subject_;
  UniqueFd pid_fd_;
  SharedTracing& shared_;
  std::optional<Tracer> tracer_;  ///< until let_go()
  std::uint32_t first_program_;   ///< the tracer's
  std::uint64_t unwind_misses_ = 0;
  Probing probing_;
  HeapModel model_;
  SharedTable<Module> modules_;  ///< of all snapshots
  std::uint64_t most_live_bytes_ = 0;
  std::optional<std::chrono::nanoseconds> at_peak_;  ///< when that was, since the trace began
  std::optional<ProcessMemory> memory_;
  ThreadWatch threads_;
  std::optional<RegionWatch> regions_;  ///< nullopt: they are not followed
  StatusFile status_;
  UsageMeter meter_;
  std::optional<TracingUsage> usage_;  ///< as of let_go()
  PerfMapFinder perf_map_;
  ConfinedSymbolizer symbolizer_;
  std::size_t symbolized_modules_ = 0;  ///< of the used ones
  std::set<ModuleId> symbolized_;
  std::chrono::system_clock::time_point start_wall_;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point closed_at_{};  ///< files that were not mapped any more
  std::chrono::nanoseconds duration_{};
  std::chrono::nanoseconds longest_drain_{};
  bool exec_was_announced_ = false;  ///< one that no drain has seen yet
  bool target_exited_ = false;
  std::optional<bool> verified_;
};

}  // namespace hawk
