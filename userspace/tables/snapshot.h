#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bpf/unwind/ends.h"
#include "userspace/base/ids.h"
#include "userspace/tables/children.h"
#include "userspace/tables/counters.h"
#include "userspace/tables/live_ages.h"
#include "userspace/tables/losses.h"
#include "userspace/tables/regions.h"
#include "userspace/tables/shared_table.h"
#include "userspace/tables/stack_frames.h"
#include "userspace/tables/stack_lives.h"
#include "userspace/tables/thread_names.h"

namespace hawk {

/// A mapped file (or the vdso) that frames lie in.
struct Module {
  std::string path;      ///< as the target sees it: "/usr/lib/x86_64-linux-gnu/libc.so.6", "[vdso]"
  std::string build_id;  ///< lower-case hex; empty when the file has none
  bool operator==(const Module&) const = default;
};

/// A program counter in a module that stacks pass through.
struct Location {
  std::uint64_t address = 0;        ///< as found on the stack: the instruction after the call, unless `interrupted`
  std::optional<ModuleId> module;   ///< nullopt: no file was mapped there
  std::uint64_t module_offset = 0;  ///< ELF virtual address of `address` in the module; 0 without one
  /// No return address but that of an instruction which a signal interrupted: what runs there is at the address itself.
  bool interrupted = false;

  /// The return address in the module by which a Symbolizer finds the location: it looks up the byte before.
  std::uint64_t symbol_offset() const { return module_offset + (interrupted ? 1 : 0); }
  bool operator==(const Location&) const = default;
};

/// All calls that came through one stack.
struct StackRecord {
  StackId id = kNoStack;
  TargetId target{};
  Counters counters;
  hawk_end end = HAWK_END_OUTERMOST;  ///< why the walk ended where it did
  bool guessed = false;               ///< partly walked along frame pointers, which nothing proves
  StackFrames frames;                 ///< from the caller of the allocator outwards; empty for kNoStack

  /// What the stack is worth. Says nothing for kNoStack.
  enum hawk_stack_quality quality() const { return hawk_stack_quality(end, guessed); }
  bool operator==(const StackRecord&) const = default;
};

/// What was mapped through one stack, of one kind and origin.
struct MappedStack {
  StackRecord stack;  ///< without counters. kNoStack: none is known, as of what is older than the trace
  RegionKind kind = RegionKind::kAnonymous;
  RegionOrigin origin = RegionOrigin::kProgram;
  RegionCounters counters;
  bool operator==(const MappedStack&) const = default;
};

/// What is seen of a call at a point inside an allocating function.
enum class PointShows : std::uint8_t {
  kCall,         ///< all of it: one trap
  kSize,         ///< its size, which the thread remembers for the next
  kResult,       ///< the result of one whose size is remembered
  kReturnProbe,  ///< it goes on where the kernel's return probe takes over
};
inline constexpr std::size_t kPointsShow = 4;
/// "call", "size", "result", "return_probe".
std::string_view point_shows_name(PointShows shows);

/// A probed instruction inside an allocating function.
struct ProbedPoint {
  PointShows shows = PointShows::kCall;
  std::uint64_t file_offset = 0;
  bool single_stepped = false;
  bool conditional = false;                   ///< a branch, at which only some of those calls end that come by
  std::optional<std::uint64_t> cost_ns = {};  ///< of its trap, as measured on this machine; nullopt: not measured
  /// Calls of which it was seen there, in all processes of the trace that have the file; nullopt: not counted.
  std::optional<std::uint64_t> calls = {};
  bool operator==(const ProbedPoint&) const = default;
};

/// A function of an allocator and where it is probed.
struct ProbedFunction {
  std::string name;                       ///< the one that programs use: "free"
  std::vector<std::string> aliases = {};  ///< other names of the same address: "cfree", "__libc_free"
  std::uint64_t file_offset = 0;          ///< of the function's first instruction
  std::uint64_t probe_offset = 0;         ///< of the probed instruction, as file offset
  std::string instruction;                ///< mnemonic of the probed instruction: "push"
  bool single_stepped = false;            ///< the kernel cannot emulate it: each hit costs 3 to 13 times as much
  /// What one call pays for its traps, as measured on this machine; nullopt: not measured.
  std::optional<std::uint64_t> cost_ns = {};
  std::vector<ProbedPoint> points = {};  ///< where its calls are seen in place of entry and return; empty: there
  std::string points_fallback = {};      ///< why there are none, where they were asked for
  bool operator==(const ProbedFunction&) const = default;
};

/// A mapped file that defines allocator functions.
struct Allocator {
  std::string path;
  std::string build_id;
  std::vector<ProbedFunction> functions;
  bool operator==(const Allocator&) const = default;
};

struct TargetInfo {
  int pid = 0;
  std::string comm;
  std::string exe;
  std::vector<Allocator> allocators;
  bool is_go = false;  ///< built by Go, which has a heap of its own beside that of C
  SharedTable<ThreadEvent> threads = {};
  std::string cgroup = {};  ///< when the trace began, as /proc/PID/cgroup has it; empty: not known
  bool operator==(const TargetInfo&) const = default;
};

/// Which options that limit the trace have room left.
struct TraceLimits {
  bool may_raise_blocks = true;  ///< --max-blocks
  bool may_raise_stacks = true;  ///< --max-stacks
  bool may_raise_depth = true;   ///< --stack-depth
  bool has_max_memory = false;   ///< --max-memory was given
  bool operator==(const TraceLimits&) const = default;
};

/// Why a state was reported or recorded out of turn.
enum class DumpCause : std::uint8_t {
  kNone,       ///< it was not
  kSignal,     ///< SIGUSR1
  kTime,       ///< --report-every
  kAllocated,  ///< so many bytes had been allocated since the last one
  kGrowth,     ///< so many live bytes more than at the last one
  kPeak,       ///< more live bytes than ever
};
inline constexpr std::size_t kDumpCauses = 6;
/// "signal", "time", "allocated", "growth", "peak"; "" of kNone.
std::string_view dump_cause_name(DumpCause cause);

struct TraceInfo {
  std::string attach_via;             ///< "points", "session", "multi" or "perf"
  std::string live_table;             ///< "arena" or "hash"
  std::string unwind;                 ///< "auto", "cfi" or "fp"
  std::uint64_t min_block_bytes = 0;  ///< smaller blocks were not followed; their frees count as frees_of_untraced
  bool from_start = false;            ///< traced from its first instruction on: nothing is older than the trace
  std::uint64_t start_unix_ns = 0;
  std::uint64_t duration_ns = 0;
  std::uint64_t interval_ns = 0;  ///< between drains
  std::string kernel;             ///< release, as uname -r prints it
  bool target_exited = false;     ///< the target ended before the trace did
  std::uint64_t exec_count = 0;   ///< times the target replaced its program; numbers are of the last one
  TraceLimits limits;
  /// With --verify: whether for each stack allocated - freed equalled the sum over the live table. nullopt: not asked.
  std::optional<bool> verified;
  DumpCause dump_cause = DumpCause::kNone;
  bool operator==(const TraceInfo&) const = default;
};

/// What of a module's call frame information could not be put into rules that the kernel's programs follow.
struct UnsupportedRules {
  ModuleId module{};
  std::string reason;      ///< "CFA by an expression"
  std::uint64_t rows = 0;  ///< of the module's unwind table
  bool operator==(const UnsupportedRules&) const = default;
};

/// What is known of the unwind tables of the modules, for reports that name the cause of an incomplete stack, and of
/// the work with them.
struct UnwindInfo {
  std::vector<UnsupportedRules> unsupported_rules;  ///< each module and reason once, any order
  std::vector<ModuleId> modules_without_table;      ///< looked at, and found to have no call frame information
  std::uint64_t cache_misses = 0;                   ///< times the rule for a frame had to be searched for
  bool operator==(const UnwindInfo&) const = default;
};

/// What the kernel said that the target takes, at the last reading before its end.
struct ProcessMemory {
  std::uint64_t resident_bytes = 0;   ///< all of it in memory: anonymous, files, shared
  std::uint64_t anonymous_bytes = 0;  ///< of that, what is of no file: heaps and stacks
  std::uint64_t swapped_bytes = 0;    ///< anonymous, and not in memory
  std::uint64_t live_bytes = 0;       ///< totals.live_bytes() at that time
  bool operator==(const ProcessMemory&) const = default;
};

/// What tracing took until the last drain.
struct TracingUsage {
  std::uint64_t cpu_ns = 0;                    ///< of hawktrace and the processes that it reads files with
  std::uint64_t peak_resident_bytes = 0;       ///< of the same: no less than they took at any time
  std::uint64_t table_bytes = 0;               ///< of the kernel's tables, now
  std::optional<std::uint64_t> target_cpu_ns;  ///< of the target since the trace began; nullopt: it had ended before
  bool operator==(const TracingUsage&) const = default;
};

/// What of a snapshot of several targets is of one of them.
struct TargetPart {
  Counters totals;
  std::uint64_t peak_live_bytes = 0;
  std::optional<std::uint64_t> peak_live_bytes_most = {};
  std::uint64_t frees_of_untraced = 0;
  Losses losses;
  UntracedChildren children;
  std::optional<ProcessMemory> memory;
  std::uint64_t start_unix_ns = 0;
  std::uint64_t duration_ns = 0;
  std::optional<bool> verified;
  std::uint64_t exec_count = 0;
  bool target_exited = false;
  bool stacks_complete = false;

  /// As those of a snapshot.
  bool numbers_exact() const { return losses.keep(Promise::kNumbers) && verified != std::optional<bool>(false); }
  bool exact() const { return numbers_exact() && losses.keep(Promise::kChildren); }
  bool operator==(const TargetPart&) const = default;
};

/// What of a stack is of one of several targets.
struct StackShare {
  StackId stack = kNoStack;
  TargetId target{};
  Counters counters;
  bool operator==(const StackShare&) const = default;
};

/// What is known of the stacks of a snapshot without a look at each. It follows from them, so that it is not compared.
struct KnownOfStacks {
  bool all_complete = false;  ///< every one is recorded, and complete; false: not known
  /// Snapshots with one number have equal stacks under one id, but for the counters; 0: nothing is known of others.
  std::uint64_t table = 0;
  bool operator==(const KnownOfStacks&) const { return true; }
};

/// The stacks of a snapshot that nobody needs any more, for the next one. Most of those are the same, and stay where
/// they are: to copy the frames of each, and to forget them, costs more than its numbers.
struct SpareStacks {
  std::vector<StackRecord> stacks;
  KnownOfStacks known;
};

/// Everything a report needs, as plain values: a state of the heap at one instant.
///
/// Invariants: totals equal the sums over `stacks`; peak_live_bytes >= totals.live_bytes(); every frame of a stack is
/// the number of a location. Never changed once it is made. A copy copies the counters, and shares modules, locations
/// and frames.
struct Snapshot {
  std::vector<TargetInfo> targets = std::vector<TargetInfo>(1);  ///< by TargetId; never empty
  TraceInfo trace;
  Counters totals;
  /// The most that was live at any drain: a lower bound of the true peak, which lay between drains.
  std::uint64_t peak_live_bytes = 0;
  /// The true peak was not higher. nullopt: not known.
  std::optional<std::uint64_t> peak_live_bytes_most = {};
  bool is_at_peak = false;              ///< of the drain that had the most live bytes, and not of the last one
  std::uint64_t frees_of_untraced = 0;  ///< frees of blocks that are older than the trace
  std::optional<ProcessMemory> memory;  ///< nullopt: the target was gone before the first reading
  std::optional<TracingUsage> usage;    ///< nullopt: not known
  Losses losses;
  UntracedChildren children;
  SharedTable<Module> modules;  ///< by ModuleId
  UnwindInfo unwind;
  SharedTable<Location> locations;  ///< of all stacks, each once; by LocationId
  std::vector<StackRecord> stacks;  ///< ascending by id; only stacks with at least one allocation
  KnownOfStacks known_of_stacks = {};
  /// Ascending by stack, kind and origin; nullopt: mappings are not followed (--mappings). Of what an allocator has
  /// mapped the blocks in `stacks` are a part.
  std::optional<std::vector<MappedStack>> mappings = {};
  /// By TargetId. Empty: there is one target, and all is its own. Otherwise everything else here is the sum over them.
  std::vector<TargetPart> parts = {};
  /// When the live blocks were allocated; nullopt: not read for this state.
  std::optional<LiveAges> ages = {};
  /// Sizes and lifetimes of blocks, ascending by stack, target and number; nullopt: not counted, or not read for this
  /// state.
  std::optional<std::vector<StackLives>> lives = {};
  /// nullopt: stacks were not told apart by threads, or not read for this state.
  std::optional<ThreadShares> threads = {};
  /// What of the live blocks is left in it, if not all; nullopt: it is whole.
  std::optional<AgeNarrowing> narrowing = {};
  std::vector<StackShare> shares = {};  ///< ascending by stack, then by target; empty where `parts` is

  /// Whether nothing is missing of the target's own numbers, and nothing contradicts that.
  bool numbers_exact() const { return losses.keep(Promise::kNumbers) && trace.verified != std::optional<bool>(false); }
  /// Nor of those of the processes that it started: there was none.
  bool exact() const { return numbers_exact() && losses.keep(Promise::kChildren); }
  /// Whether every stack is recorded, out to its outermost frame, by unwind tables alone.
  bool stacks_complete() const;
  /// What of a stack is whose; empty where `parts` is.
  std::span<const StackShare> shares_of(StackId stack) const;
  const Location& location(LocationId id) const { return locations[static_cast<std::size_t>(id)]; }
  /// The first one, which a report of a single process is of.
  const TargetInfo& target() const { return targets.front(); }
  TargetInfo& target() { return targets.front(); }
  bool operator==(const Snapshot&) const = default;
};

}  // namespace hawk
