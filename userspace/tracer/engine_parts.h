#pragma once

#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "bpf/layout.h"
#include "userspace/base/result.h"
#include "userspace/base/unique_fd.h"
#include "userspace/tracer/arena_memory.h"
#include "userspace/tracer/block_reserve.h"
#include "userspace/tracer/code_tables.h"
#include "userspace/tracer/copied_probes.h"
#include "userspace/tracer/drain.h"
#include "userspace/tracer/engine.h"
#include "userspace/tracer/file_links.h"
#include "userspace/tracer/frame_store.h"
#include "userspace/tracer/inherited_probes.h"
#include "userspace/tracer/kernel_maps.h"
#include "userspace/tracer/live_table_check.h"
#include "userspace/tracer/lives_reader.h"
#include "userspace/tracer/map_memory.h"
#include "userspace/tracer/operator_call_sites.h"
#include "userspace/tracer/passed_over.h"
#include "userspace/tracer/probe_point_store.h"
#include "userspace/tracer/probe_remover.h"
#include "userspace/tracer/programs.h"
#include "userspace/tracer/stack_room.h"
#include "userspace/tracer/studied_files.h"
#include "userspace/tracer/target_places.h"
#include "userspace/tracer/tracer.h"
#include "userspace/tracer/wakeups.h"
#include "userspace/tracer/yield_points.h"

namespace hawk {

// Destruction runs from the last member to the first: what is attached goes before the maps it uses.
struct Engine::Parts {
  EngineOptions options;
  LiveTable table = LiveTable::kHash;
  MemoryPlan plan;
  Skeleton skeleton;
  LaterPrograms later;  ///< of those of `skeleton`
  Skeleton throwing;    ///< see load_throwing_programs; loaded when it is needed
  Skeleton session;     ///< see load_session_program; the same
  KernelMaps maps;
  std::unique_ptr<FrameStore> frames;
  std::unique_ptr<BlockReserve> reserve;
  std::optional<ArenaMemory> arena;
  std::optional<CodeTables> code;  ///< its rows by code_tables() alone
  std::optional<YieldPoints> yield_points;
  OperatorRules operator_rules;
  std::optional<ProbePointStore> probe_points;
  std::optional<FileLinks> file_links;              ///< where links are for files
  std::optional<InheritedProbes> inherited_probes;  ///< where they are not, and children are followed
  StudiedFiles studied_files;
  Tracer::Holds holds;  ///< of processes that are traced no more
  WakeupRing wakeups;
  bool memory_refused = false;
  bool frames_refused = false;
  bool reserve_refused = false;
  Drain drain;
  StackRoom stack_room;
  LivesReader lives;
  std::optional<TargetPlaces> places;
  std::uint32_t programs_swept = 0;  ///< of those that have ended
  std::vector<UniqueFd> tracepoints;
  std::jthread closing;  ///< the tracepoints, when no more is counted
  bool watches_signals = false;
  PassedOver passed_over;  ///< the programs on them
  ProbeRemover remover;
  CopiedProbes copied_probes;  ///< of multi links for processes whose children are not traced
  FixedMapsMemory segments_memory, reserve_memory, fixed_memory;

  /// Loads the programs and sizes their maps.
  Result<void> load(LiveTable kind, const KernelTypes& types);
  Result<void> open_maps();
  Result<void> attach_tracepoints();
  /// The kernel makes no difference between a tracepoint and a function here.
  Result<void> attach_tracepoint(bpf_program* program);
  /// If there are points at which calls are seen before they have taken their blocks.
  Result<void> watch_signals_for(const std::vector<YieldProbe>& points);
  /// Where the programs for functions that may throw are.
  Result<hawktrace*> programs_for_throwing();
  /// Where those are for functions whose returns the kernel's return probes see.
  Result<hawktrace*> programs_for_returning();
  /// Keeps targets ready for the processes that others will start.
  Result<void> begin_following();
  /// As many as there are places for.
  void keep_spares();
  /// Says how often threads have been held, and for how long.
  void report_holds() const;
  /// Counts what was passed over as a loss of each target: whose it was is not known.
  void count_passed_over();
  /// Whether a program that is loaded when it is needed can be had.
  bool has_loaded(const bpf_program* program);
  /// Removes the blocks of programs that have ended, if there are any.
  void drop_ended_blocks();
  void reuse_ended_places();
  LiveBlocks live_blocks() const;
  CodeTables& code_tables();
  /// What the kernel takes for all maps but the segments of frames.
  std::uint64_t map_bytes();

 private:
  Result<void> open_arena();
  Result<void> open_memory(hawktrace& made);
  Result<void> close_memory();
  Result<void> open_reserve(const hawktrace& made);
  Result<void> open_frames(const hawktrace& made);

  std::jthread first_rows;  ///< makes room for them; uses code
  Result<void> watch_mappings();
};

/// Adds those of a target.
void add_holds(Tracer::Holds& sum, const hawk_target& target);

}  // namespace hawk
