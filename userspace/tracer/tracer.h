#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "bpf/unwind/layout.h"
#include "userspace/base/address_range.h"
#include "userspace/base/result.h"
#include "userspace/code/allocator_file.h"
#include "userspace/code/call_site_rules.h"
#include "userspace/tables/drained.h"
#include "userspace/tracer/attach_way.h"
#include "userspace/tracer/last_look.h"
#include "userspace/tracer/live_table.h"
#include "userspace/tracer/mapping_events.h"
#include "userspace/tracer/memory_plan.h"

namespace hawk {

/// What is fixed before the programs are loaded.
struct TracerOptions {
  int pid = 0;                ///< of the process to trace, in our pid namespace
  bool filter_by_pid = true;  ///< let the kernel put probes into that process only; see KernelFeatures::pid_filter
  AttachWay way = AttachWay::kSession;       ///< not kPoints, but what there is for functions without a plan
  bool by_plan = false;                      ///< functions that have a plan are followed by it
  bool returns_are_calls = false;            ///< see returns_are_system_calls
  std::optional<LiveTable> live_table = {};  ///< nullopt: the arena if the kernel can do it
  MemoryLimits memory = {};
  std::uint64_t min_block_bytes = 0;  ///< smaller blocks are not followed
  std::uint32_t max_depth = 0;        ///< frames per stack
  hawk_unwind unwind = HAWK_UNWIND_AUTO;
  bool programs_on_functions = false;  ///< see KernelFeatures::programs_on_functions
};

/// The programs in the kernel, their probes and their maps.
///
/// Life: make (programs loaded, nothing probed) -> attach_* (probed, not counting) -> enable (counting) -> drain, any
/// number of times, attach_* for files that appear later -> stop. Destroying it at any moment, and even the death of
/// our process, removes every probe. Single-threaded.
class Tracer {
 public:
  static Result<Tracer> make(const TracerOptions& options);
  Tracer(Tracer&&) noexcept;
  Tracer& operator=(Tracer&&) noexcept;
  ~Tracer();

  /// Fails if the system calls of the process are intercepted: it would not survive return probes then.
  Result<void> require_no_interceptor();
  /// Leaves those functions their plan that are to be followed by it. To be called before anything rests on that.
  void settle(AllocatorFile& allocator) const;
  /// Probes the allocator functions of the settled file open as `fd`. Wherever a process has mapped it, now or later.
  /// All of them, or none when that fails.
  Result<void> attach_allocator(int fd, const AllocatorFile& allocator);

  /// Tells the programs about a file's forms of operator new that keep no frame pointer. `watch_init`: also probe the
  /// code that the dynamic linker runs when it loads the file, and learn its address from there; otherwise call
  /// set_module_base. Returns the file's number, nullopt when no more files can be taken.
  Result<std::optional<std::uint32_t>> add_operator_frames(int fd, const OperatorFrames& frames, bool watch_init);
  /// The address that the file's ELF virtual address 0 has in the process.
  void set_module_base(std::uint32_t module, std::uint64_t base);

  /// Where the code lies that may call an allocator from inside one: files that define one, and the dynamic linker. To
  /// be set when all of them are known, and again when one is added; an exec of the target forgets them.
  void set_allocator_ranges(const std::vector<AddressRange>& ranges);

  /// See CodeTables, which these are the operations of.
  Result<void> reserve_unwind_rows(std::uint64_t rows);
  Result<std::optional<std::uint32_t>> add_unwind_rows(std::span<const hawk_row> rows);
  void set_unwind_rules(std::span<const hawk_rule> rules);
  void add_file_part(const hawk_file_part& part, const hawk_code_range& code);
  void remove_file_part(const hawk_file_part& part);
  void set_code_ranges(std::span<const hawk_code_range> ranges);
  /// Whether the programs have met code that is no longer where set_code_ranges said: it is to be called again.
  bool code_ranges_are_stale() const;
  /// How often the rule for a frame had to be searched for.
  std::uint64_t unwind_misses() const;

  /// From here on allocations and frees count.
  void enable();
  /// What the kernel's maps say now.
  Drained drain();
  /// For as long as this lives.
  LastLook last_look() const;
  /// Where the programs tell of the process's mappings, from make() on.
  MappingEvents::Source mapping_events() const;
  /// Readable when the programs ask for memory: adjust_memory() is due.
  int wakeup_fd() const;
  /// Gives the programs the memory they will need next, and takes back what they no longer use. Also due
  /// periodically.
  void adjust_memory();
  LiveTable live_table() const;
  /// Bytes of memory that the kernel's tables take now.
  std::uint64_t table_bytes() const;
  std::uint64_t min_block_bytes() const;
  /// Counts a loss that user space noticed; it appears in later drains.
  void count_loss(hawk_loss cause, std::uint64_t times = 1);
  /// Whether any stack has been counted.
  bool has_stacks() const;
  /// Stops counting and removes every probe. The maps stay readable.
  void stop();
  /// After stop: whether the counters agree with the live table (live_table_agrees).
  Result<bool> verify(const Drained& drained);

 private:
  struct Impl;
  explicit Tracer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hawk
