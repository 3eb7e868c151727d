#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "bpf/unwind/layout.h"
#include "userspace/base/result.h"
#include "userspace/tables/drained.h"
#include "userspace/tracer/attach_way.h"
#include "userspace/tracer/code_tables.h"
#include "userspace/tracer/kernel_types.h"
#include "userspace/tracer/link_scope.h"
#include "userspace/tracer/live_table.h"
#include "userspace/tracer/lives_reader.h"
#include "userspace/tracer/mapping_events.h"
#include "userspace/tracer/memory_plan.h"

namespace hawk {

/// What is fixed before the programs are loaded.
struct EngineOptions {
  AttachWay way = AttachWay::kSession;       ///< not kPoints, but what there is for functions without a plan
  bool by_plan = false;                      ///< functions that have a plan are followed by it
  LinkScope links = LinkScope::kProcess;     ///< kFile: `way` is kSession
  bool follows_children = false;             ///< processes that targets start are targets too; `way` is kPerf then, or
                                             ///< links are for files
  bool holds = false;                        ///< a thread that maps a new file is held until that is probed
  bool returns_are_calls = false;            ///< see returns_are_system_calls
  std::optional<LiveTable> live_table = {};  ///< nullopt: the arena if the kernel can do it
  MemoryLimits memory = {};
  std::uint64_t min_block_bytes = 0;  ///< smaller blocks are not followed
  std::uint32_t max_depth = 0;        ///< frames per stack
  hawk_unwind unwind = HAWK_UNWIND_AUTO;
  bool follows_regions = false;        ///< what targets map and unmap is announced
  bool by_thread = false;              ///< stacks are told apart by threads
  bool histograms = false;             ///< sizes and lifetimes are counted by stack
  bool programs_on_functions = false;  ///< see KernelFeatures::programs_on_functions
  bool kernel_preempts = true;         ///< see KernelFeatures::preempts_itself
};

/// A process that a target has started, and that the programs have made a target, too.
struct Birth {
  std::uint32_t number = 0;         ///< its place in what Engine::drain() returns
  std::uint32_t maker_program = 0;  ///< Tracer::program of the target that has started it, then
  int pid = 0;
  std::uint64_t time_ns = 0;    ///< by CLOCK_MONOTONIC
  bool is_new_program = false;  ///< begun by an exec; otherwise a copy of its maker
};

/// The programs in the kernel and their maps, loaded and verified once, for all processes that are traced: see Tracer,
/// of which each has one. Destroying it at any moment, and even the death of our process, removes every probe.
/// Single-threaded.
class Engine {
 public:
  /// `types`: the running kernel's.
  static Result<std::unique_ptr<Engine>> make(const EngineOptions& options, const KernelTypes& types);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine();

  /// What the kernel's maps say now of each target, by its number (Tracer::number).
  std::vector<Drained> drain();
  /// See Drain::give_back.
  void give_back(std::uint32_t target, std::vector<StackCounters> counters);
  /// What is known now of the lives of the blocks of each target, by its number.
  Result<std::vector<TargetLives>> read_lives(const BirthCuts& cuts = {});
  /// What is allocated from now on was born at this stamp (bpf/clock.h).
  void set_clock(std::uint32_t stamp);
  /// The processes that targets have started since the last call, and that are targets since: Tracer::adopt.
  std::vector<Birth> take_births();
  /// Where the programs announce the processes' mappings, from make() on.
  MappingEvents::Source mapping_events() const;
  /// Where the programs announce what targets map and unmap; if that is followed.
  int region_ring_fd() const;
  /// The frames of these stacks, of any target.
  std::vector<NewStack> read_stacks(std::span<const StackId> stacks) const;
  /// Readable when the programs ask for memory: adjust_memory() is due.
  int wakeup_fd() const;
  /// Gives the programs the memory they will need next, and takes back what they no longer use. Also due
  /// periodically.
  void adjust_memory();
  /// See CodeTables, which these are the operations of.
  Result<void> reserve_unwind_rows(std::uint64_t rows);
  Result<std::optional<AddedRows>> add_unwind_rows(std::span<const hawk_row> rows);
  void remove_unwind_rows(std::uint32_t first);
  void set_unwind_rules(std::span<const hawk_rule> rules);
  void add_file_part(const hawk_file_part& part, const hawk_code_range& code);
  void remove_file_part(const hawk_file_part& part);
  LiveTable live_table() const;
  /// Counts the processes of this machine that begin, or begin to run another program.
  std::uint32_t processes_begun() const;
  /// Where processes inherit probes: see InheritedProbes::extend_to_all. Elsewhere that is decided by the options.
  Result<void> extend_probes_to_all();
  /// How many Tracers there are.
  std::size_t target_count() const;
  /// Bytes of memory that the kernel's tables take now.
  std::uint64_t table_bytes() const;
  /// Whether half of the room for stacks or for points is taken, which is not given back.
  bool is_filling_up();
  std::uint64_t min_block_bytes() const;
  /// Ends what is done for all targets, which must have been stopped. The maps stay readable.
  void stop();

  /// What is shared with Tracer.
  struct Parts;
  Parts& parts() { return *parts_; }

 private:
  explicit Engine(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace hawk
