#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "bpf/holds.h"
#include "bpf/unwind/layout.h"
#include "userspace/base/address_range.h"
#include "userspace/base/result.h"
#include "userspace/code/allocator_file.h"
#include "userspace/code/call_site_rules.h"
#include "userspace/tables/drained.h"
#include "userspace/tracer/engine.h"
#include "userspace/tracer/last_look.h"

namespace hawk {

/// The probes of one traced process, and what the programs and we know of it.
///
/// Life: make (known, nothing probed) -> attach_* (probed, not counting) -> enable (counting) -> Engine::drain, any
/// number of times, attach_* for files that appear later -> stop. Destroying it removes every probe of the process, and
/// all that is counted of it. Single-threaded.
class Tracer {
 public:
  /// `pid`: in our pid namespace. `filter_by_pid`: let the kernel put probes into that process only; see
  /// KernelFeatures::pid_filter. The engine must live longer.
  static Result<Tracer> make(Engine& engine, int pid, bool filter_by_pid);
  /// That of a process which a target has started, and which counts already. It has the probes that the target had
  /// then. `maker`: the tracer of that target, which may run another program by now; nullptr: it is gone.
  static Tracer adopt(Engine& engine, const Birth& birth, const Tracer* maker);
  Tracer(Tracer&&) noexcept;
  Tracer& operator=(Tracer&&) noexcept;
  ~Tracer();

  /// Its place in what Engine::drain() returns, which another one may have after it.
  std::uint32_t number() const;
  /// The number of the program that it was made for: no other target has it, nor will.
  std::uint32_t first_program() const;
  /// Whether it runs the program of this number, or has run it.
  bool has_run(std::uint32_t program) const;

  /// Fails if the system calls of the process are intercepted: it would not survive return probes then.
  Result<void> require_no_interceptor();
  /// Whether functions that have a plan are followed by it.
  bool follows_plans() const;
  /// What they are to show then.
  Plans plans() const;
  /// Leaves those functions their plan that are to be followed by it: none where there is no room for the file's
  /// points. To be called before anything rests on that.
  void settle(AllocatorFile& allocator) const;
  /// Whether probes in this file are, or will be, those of other processes too.
  bool shares_probes(int fd) const;
  /// Probes the allocator functions of the settled file open as `fd`. Wherever a process has mapped it, now or later.
  /// All of them, or none when that fails. False: the process has had these probes since its program began.
  Result<bool> attach_allocator(int fd, const AllocatorFile& allocator);
  /// When what is announced of files that the process maps was about to be read.
  struct Asked {
    std::uint64_t time_ns = 0;  ///< by CLOCK_MONOTONIC
    std::uint64_t program_began_ns = 0;
    std::uint32_t allocators_mapped = 0;
  };
  Asked ask_for_files() const;
  /// How often something was seen at the point, in all targets together; nullopt: that is not counted.
  std::optional<std::uint64_t> hits_of(const YieldPoint& point, hawk_call_kind kind) const;
  /// What has been read since is about to be taken: so many programs have begun in it.
  void take_files(const Asked& asked, std::size_t programs);

  /// Passes to the programs a file's forms of operator new that keep no frame pointer. `watch_init`: also probe the
  /// code that the dynamic linker runs when it loads the file, and learn its address from there; otherwise call
  /// set_module_base. Returns the file's number, nullopt when no more files can be taken.
  Result<std::optional<std::uint32_t>> add_operator_frames(int fd, const OperatorFrames& frames, bool watch_init);
  /// The address that the file's ELF virtual address 0 has in the process.
  void set_module_base(std::uint32_t module, std::uint64_t base);

  /// Where the code lies that may call an allocator from inside one: files that define one, and the dynamic linker. To
  /// be set when all of them are known, and again when one is added. An exec of the target and a mapping of such a file
  /// forget them; they are set only once what was announced of that has been taken (take_files).
  void set_allocator_ranges(const std::vector<AddressRange>& ranges);

  /// See CodeTables::set_ranges.
  void set_code_ranges(std::span<const hawk_code_range> ranges);
  /// Whether the programs have met code that is no longer where set_code_ranges said: it is to be called again.
  bool code_ranges_are_stale() const;
  /// How often the rule for a frame had to be searched for.
  std::uint64_t unwind_misses() const;

  /// From here on allocations and frees count.
  void enable();
  /// Segments of shmat are mapped that the programs have not seen.
  void note_unknown_segments();
  /// The key of its memory.
  std::uint64_t memory() const;
  /// The number of the program that the target runs: each has another one.
  std::uint32_t program() const;
  /// Whether its last thread has ended. Only of one that was adopted, and whose end was seen.
  bool process_has_ended() const;
  /// Whether that was in code of another file than its program's own.
  bool process_has_ended_elsewhere() const;
  /// The code that it had mapped when it ended, but not run: it was killed in the call that mapped it. To
  /// HAWK_END_OF_MEMORY: it has run nothing of its last program.
  AddressRange unrun_code() const;
  /// For as long as this lives.
  LastLook last_look();
  /// Counts a loss that user space noticed; it appears in later drains.
  void count_loss(hawk_loss cause, std::uint64_t times = 1);
  /// How often threads were to be held until now: what they wait for has been announced.
  std::uint32_t holds_wanted() const;
  /// Whether threads that map files not seen before are held.
  bool holds_threads() const;
  /// The file, which a thread is held for, has been looked at.
  void note_studied(const hawk_file_key& file, bool has_probes);
  /// An allocator has been probed that was mapped during the trace. A loss, unless the thread was held meanwhile.
  void note_late_allocator();
  /// All is done that so many holds were for: they end.
  void release_held(std::uint32_t wanted);
  /// How often threads of the process have been held, and for how long.
  struct Holds {
    std::uint64_t count = 0;
    std::uint64_t total_ns = 0;
    std::uint64_t longest_ns = 0;
  };
  /// Whether a stack has been counted, of any target.
  bool has_stacks() const;
  /// Stops counting and removes every probe. What was counted stays readable.
  void stop();
  /// The same of several of one engine, which takes hardly longer than for one.
  static void stop_all(std::span<Tracer* const> tracers);
  /// The same of one whose process has ended, without waiting until the kernel has removed the probes.
  void stop_ended();
  /// After stop: whether the counters that a drain has given of this target agree with the live table
  /// (live_table_agrees).
  Result<bool> verify(std::span<const StackCounters> counters);

 private:
  void stop_counting();
  void count_unfinished();

  struct Impl;
  explicit Tracer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hawk
