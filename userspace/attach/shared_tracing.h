#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "userspace/attach/file_users.h"
#include "userspace/attach/known_files.h"
#include "userspace/attach/link_choice.h"
#include "userspace/attach/read_ahead.h"
#include "userspace/attach/trace_clock.h"
#include "userspace/attach/trace_config.h"
#include "userspace/attach/unwind_store.h"
#include "userspace/base/result.h"
#include "userspace/study/confined_symbolizer.h"
#include "userspace/study/file_reader.h"
#include "userspace/study/known_symbols.h"
#include "userspace/tables/snapshot.h"
#include "userspace/tracer/attach_way.h"
#include "userspace/tracer/engine.h"
#include "userspace/tracer/features.h"
#include "userspace/tracer/mapping_events.h"
#include "userspace/tracer/probe_cost.h"
#include "userspace/tracer/region_feed.h"
#include "userspace/tracer/tracer.h"

namespace hawk {

/// What the traces of a group have in common: the programs in the kernel, what these announce of mappings, and what the
/// kernel side knows of files. Single-threaded.
class SharedTracing {
 public:
  explicit SharedTracing(const TraceConfig& config);
  SharedTracing(const SharedTracing&) = delete;
  SharedTracing& operator=(const SharedTracing&) = delete;

  const TraceConfig& config() const { return config_; }
  /// Reads the files of all targets. Its worker is started by now.
  FileReader& files() { return files_; }
  FileWants wants() const;
  /// What has been found out about the code of files.
  KnownFiles<FileCode>& known_code() { return known_code_; }

  /// Begins to read those of the files that have not been read for another target; nullptr: there are none.
  std::unique_ptr<ReadAhead> begin_reading_ahead(std::vector<ReadAhead::Source> files);

  /// Loads the programs, unless they are.
  Result<void> load();
  // What follows: after load().
  Engine& engine() { return *engine_; }
  MappingEvents& mapping_events() { return *mapping_events_; }
  /// nullptr: mappings are not followed.
  RegionFeed* region_feed() { return region_feed_.get(); }
  UnwindStore& unwinding() { return *unwinding_; }
  /// How functions are probed that have no plan, or that are not to be followed by it.
  AttachWay way() const { return way_; }
  /// What the report says of it (TraceInfo::attach_via).
  std::string reported_attachment() const;
  TraceLimits limits() const;

  /// Begins a target. Of a process whose main thread has exited the kernel's filter for multi links knows nothing: it
  /// is refused beside others, as are others beside it, whose calls its probes would see twice.
  Result<Tracer> make_tracer(int pid, bool main_thread_lives);

  /// So many processes are traced now. Whether it is to be chosen again whom inherited probes are for: they have become
  /// many, and were that the last time as well. To be called for each drain.
  bool should_choose_scope(std::size_t targets);
  /// Whether they are to be for all processes: these are traced, and these files probed.
  bool should_extend_probes(std::span<const int> targets, const std::set<MappedFile>& files);
  /// See Engine::extend_probes_to_all.
  void extend_probes();
  /// The clock by which blocks are born, of all targets.
  const TraceClock& clock() const { return clock_; }
  void advance_clock() { engine_->set_clock(clock_.advance()); }
  /// Begins a generation of blocks.
  void mark() { engine_->set_clock(clock_.mark()); }

  /// What is known of the symbols of files, for all symbolizers of traces.
  KnownSymbols& known_symbols() { return known_symbols_; }
  /// Has symbols of `modules` read by this one, on another thread: until the next call of one of these functions only
  /// its perf map may be spoken of.
  void begin_reading(ConfinedSymbolizer& reader, std::vector<ModuleId> modules);
  /// This one, of a trace, is about to be asked. Of all of them only the last few keep their workers, each of which
  /// takes as much memory as a trace.
  void use_symbolizer(ConfinedSymbolizer& used);
  /// It is about to go.
  void forget_symbolizer(ConfinedSymbolizer& forgotten);

  /// What traps cost on this machine, measured from load() on; nullopt: not measured.
  const std::optional<ProbeCosts>& costs();

  /// Bytes of memory that the kernel's tables take for all targets, now.
  std::uint64_t table_bytes() const { return engine_ ? engine_->table_bytes() : 0; }

 private:
  Result<AttachWay> choose_way() const;
  Result<LinkScope> choose_scope();
  static LinkScope scope_for(std::span<const int> targets, const LinkCosts& costs, const std::set<MappedFile>& files);
  void settle_following();

  TraceConfig config_;
  // What is waited for last of all.
  std::unique_ptr<WorkerProcess> ending_worker_;  ///< of the symbolizer that was forgotten last
  std::jthread detaching_costs_;                  ///< from our own code
  FileReader files_;
  KnownFiles<FileCode> known_code_;
  std::set<std::string> read_ahead_;  ///< keys; what has changed since is read when it is used
  KernelFeatures features_;
  AttachWay way_ = AttachWay::kSession;
  bool is_by_plan_;  ///< functions that have a plan are followed by it; before load(): they may be
  LinkScope links_ = LinkScope::kProcess;
  bool extended_ = false;           ///< inherited probes are for all processes by now
  std::size_t targets_then_ = 0;    ///< when that was chosen the last time
  std::size_t targets_before_ = 0;  ///< at the last should_choose_scope()
  std::unique_ptr<Engine> engine_;
  std::chrono::steady_clock::time_point began_;
  TraceClock clock_{[this] { return std::chrono::steady_clock::now() - began_; }};
  std::optional<MappingEvents> mapping_events_;
  std::unique_ptr<RegionFeed> region_feed_;
  std::optional<UnwindStore> unwinding_;
  bool has_unfiltered_ = false;  ///< the target, which is the only one, has probes in all processes
  KnownSymbols known_symbols_;
  std::vector<ConfinedSymbolizer*> symbolizers_;  ///< that may have a worker, the last one used last
  std::jthread reading_symbols_;                  ///< ends before all that it uses
  std::optional<std::optional<ProbeCosts>> costs_;
  std::optional<Result<std::optional<ProbeCosts>>> measured_costs_;  ///< by this thread:
  std::jthread measuring_costs_;
};

}  // namespace hawk
