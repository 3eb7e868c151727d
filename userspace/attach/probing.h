#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "userspace/attach/breakpoints.h"
#include "userspace/attach/module_map.h"
#include "userspace/attach/module_reader.h"
#include "userspace/attach/probed_functions.h"
#include "userspace/attach/shared_tracing.h"
#include "userspace/attach/unwind_tables.h"
#include "userspace/base/result.h"
#include "userspace/base/unique_fd.h"
#include "userspace/tables/snapshot.h"
#include "userspace/tracer/mapping_router.h"
#include "userspace/tracer/probe_cost.h"
#include "userspace/tracer/tracer.h"

namespace hawk {

/// Studies every file of the target, those that it maps later included: puts probes into those that define allocator
/// functions, and has their unwind tables read.
class Probing {
 public:
  /// `proc_pid`: see ModuleMap. Raises our limit of open files: one is kept for each file that the target maps.
  Probing(int proc_pid, Tracer& tracer, SharedTracing& shared);
  /// That of a process that was just made as a copy of the one of `maker`, and is traced since: `tracer` has its
  /// probes.
  Probing(const Probing& maker, int proc_pid, Tracer& tracer, SharedTracing& shared);

  /// Takes what has been read of the target's files already, by `files` among others, until they have been studied.
  void use(std::unique_ptr<ReadAhead> ahead) { reader_.use(std::move(ahead)); }
  /// Probes files that a command will map, before it runs.
  Result<void> expect_files(const std::vector<std::string>& paths);
  /// Takes the target's mappings as they are now.
  Result<void> take_mappings(const std::vector<Mapping>& mappings);
  /// Takes new mappings, in the order in which they were made. A file that cannot be probed is a loss, not an error:
  /// the trace goes on. `of_one_program`: the target has not replaced its program meanwhile.
  void take_new_mappings(std::span<const Mapping> mappings, bool of_one_program);
  /// Their mappings have been taken: no thread need be held for these files any more.
  void note_studied(std::span<const NewFile> files);

  /// Counts, and warns of, probes for which the process has no breakpoint in its memory. `is_last`: the programs will
  /// not look at a process that is being killed.
  void check_breakpoints(bool is_last);
  /// The same, if there is reason to think so, or if the last look was a second ago: a process changes its code unseen.
  /// To be called often.
  void check_breakpoints_in_time();
  /// Tells the programs where to look when the process's memory, or that of a copy of it, is about to go.
  void publish_breakpoints();
  /// What the programs saw when the process's memory was about to go.
  void take_last_look();
  /// The tracer is about to go: from now on only what is known is asked for.
  void let_go_of_tracer();

  /// From now on a new file with allocator functions is a late one: what it handed out before it was probed is unknown.
  void tracing_began() { tracing_ = true; }

  /// The target runs another program: which allocators that will use is not known for sure any more. `is_known`:
  /// program_began() has been called for it.
  void program_replaced(bool is_known);
  /// The target has begun to run a program, and has mapped these files in it so far: whether it has an allocator is to
  /// be found out. `is_next`: it is the first since the last call, and so perhaps the expected command.
  void program_began(std::span<const Mapping> its_mappings, bool is_next);

  /// Where an address lies now. Files in which addresses lie are in used_modules().
  Location frame_at(std::uint64_t address);
  /// Whether frame_at() was asked for an address that lies in no file.
  bool has_frames_in_no_file() const { return has_frames_in_no_file_; }

  /// Sets, for every function that is probed by now, what its calls pay for their traps.
  void set_costs(const ProbeCosts& costs);
  /// Sets, for every point inside a function, how many calls were seen there by now.
  void count_calls_at_points();

  bool found_allocator() const { return !allocators_.empty(); }
  /// Why the kernel let no probe into a file with allocator functions, the first of them.
  const std::optional<Error>& refusal() const { return refusal_; }
  /// Whether the program that the target runs is known to use one of them.
  bool program_has_allocator() const { return program_has_allocator_; }
  /// Whether of that program only the dynamic linker has run: the process was killed, or has ended, before it had
  /// loaded any library.
  bool ended_while_loading() const;
  /// The files that define an allocator, as /proc/PID/maps gives them: device and inode.
  std::set<std::pair<std::uint64_t, std::uint64_t>> probed_files() const;
  /// Whether the executable file at this path, which the target has mapped, was built by Go.
  bool is_go(const std::string& path) const { return go_programs_.contains(path); }
  const std::vector<Allocator>& allocators() const { return allocators_; }
  const ModuleMap& modules() const { return modules_; }
  const UnwindInfo& unwind_info() const { return unwind_info_ ? *unwind_info_ : unwinding_->info(); }
  /// How many files have been opened since close_unmapped().
  std::size_t opened_since_closing() const {
    return modules_.open_files() - std::min(modules_.open_files(), open_after_closing_);
  }
  /// Closes files that are not mapped any more; the list of mappings must have been taken just now. Returns those that
  /// cannot be opened again. Some deleted ones are kept, the last to be mapped, for the names in them.
  std::vector<ModuleId> close_unmapped();

  /// In the order of their first use; only ever grows.
  const std::vector<ModuleId>& used_modules() const { return used_modules_; }
  /// The module's file, to read its symbols. None when it cannot be found any more, or would be one too many.
  UniqueFd open_for_symbols(ModuleId id);

 private:
  /// What of a function's plan has probes.
  struct Planned {
    hawk_call_kind kind = HAWK_CALL_NONE;
    std::vector<YieldPoint> points;
  };
  std::optional<std::uint64_t> hits_at(std::uint64_t file_offset, const Planned& planned) const;
  Result<void> study_module(ModuleId id, bool is_expected);
  Result<void> probe_module(ModuleId id, bool is_expected, const FileStudy& study);
  void probe_late(ModuleId id, const FileStudy& study);
  void read_tables(std::vector<ModuleId> ids);
  void note_unreadable(const MappedModule& module);
  void note_not_studied(const MappedModule& module, const std::string& gap);
  void note_rewritten(const MappedModule& module);
  void take_table(ModuleId id, FileStudy study);
  Result<void> probe_allocator(ModuleId id, bool is_expected, AllocatorFile file);
  void leave_out_changed(ModuleId id, AllocatorFile& file);
  void note_refused(const MappedModule& module, const AllocatorFile& file, const Error& error);
  void count_missing(const std::vector<Breakpoints::Missing>& points);
  Result<void> take_replaced_code(const std::vector<Mapping>& mappings);
  Result<void> take_mapping(const Mapping& mapping);
  void add_operator_frames(ModuleId id, bool is_expected, const OperatorFrames& frames);
  void update_base(ModuleId id);
  void update_addresses(std::span<const Mapping> mappings);
  void take_some_mappings(std::span<const Mapping> mappings);
  void update_allocator_ranges();
  void look_for_allocator(std::span<const Mapping> mappings);

  std::size_t max_open_modules_;
  ModuleReader reader_;
  ModuleMap modules_;
  std::optional<Breakpoints> breakpoints_;  ///< until let_go_of_tracer()
  Tracer& tracer_;                          ///< the same
  std::optional<UnwindTables> unwinding_;   ///< the same
  std::optional<UnwindInfo> unwind_info_;   ///< from then on
  bool is_adopted_ = false;                 ///< another target has made its process
  bool tracing_ = false;
  std::optional<Error> refusal_;
  std::chrono::steady_clock::time_point looked_at_{};  ///< the breakpoints
  std::vector<ModuleId> used_modules_;
  bool has_frames_in_no_file_ = false;
  std::vector<bool> is_used_;  ///< by module
  std::size_t files_for_symbols_ = 0;
  std::size_t open_after_closing_ = 0;
  std::vector<Allocator> allocators_;
  std::vector<std::vector<CallTraps>> traps_;  ///< of the functions in `allocators_`
  std::vector<std::vector<Planned>> planned_;  ///< the same
  std::set<std::string> go_programs_;
  bool knows_allocator_files_ = true;
  bool program_has_allocator_ = false;
  bool expects_allocator_ = false;         ///< of the command that has not begun yet
  std::vector<ModuleId> probed_files_;     ///< those that define an allocator
  std::vector<ModuleId> allocator_files_;  ///< the same, and the dynamic linker
  std::map<ModuleId, std::uint32_t>
      operator_files_;  ///< the tracer's numbers of the files with an operator new without frame pointer
};

}  // namespace hawk
