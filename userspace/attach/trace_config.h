#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bpf/layout.h"
#include "userspace/tables/live_ages.h"
#include "userspace/tracer/attach_way.h"
#include "userspace/tracer/link_scope.h"
#include "userspace/tracer/live_table.h"

namespace hawk {

/// The most that TraceConfig can ask for.
inline constexpr std::uint32_t kMaxStackDepth = HAWK_MAX_FRAMES;
inline constexpr std::uint32_t kMaxBlocks = HAWK_MAX_BLOCKS;
inline constexpr std::uint32_t kMaxStacks = 1000000;  // numbers have 20 bits

/// How stacks are walked.
enum class UnwindMethod {
  kAuto,           ///< by unwind tables, along frame pointers where there are none
  kCfi,            ///< by unwind tables (call frame information) only
  kFramePointers,  ///< along frame pointers only
};
/// "auto", "cfi", "fp".
std::string_view unwind_method_name(UnwindMethod method);

/// What to trace, and how. Says nothing about what becomes of the numbers.
struct TraceConfig {
  std::vector<std::string> command;  ///< one that is started for the trace: program and arguments. Empty: others are
  bool several = false;              ///< more than one process may be traced
  bool follows_children = false;     ///< processes that they start are traced as well
  bool may_do_without_children = false;  ///< if the kernel cannot do that, the trace is of the others
  std::vector<int> first_processes;      ///< those that will be added first; as far as they are known
  bool follows_regions = false;          ///< what they map and unmap is followed as well
  bool holds = false;                    ///< a thread that maps a new file waits until that is probed
  std::optional<std::chrono::steady_clock::time_point> clock_began = {};  ///< nullopt: it begins with the group
  std::chrono::nanoseconds interval = std::chrono::seconds(1);            ///< between drains, as the snapshot has it
  bool reads_lives = false;   ///< snapshots out of turn and at the end tell of the lives of blocks
  AgeWindow age_window = {};  ///< what of the ages of blocks will be asked for; empty: all that is known
  bool by_thread = false;     ///< stacks are told apart by threads, too
  bool histograms = false;    ///< sizes and lifetimes are counted by stack

  std::optional<AttachWay> attach_via;  ///< nullopt: the best that the kernel offers
  std::optional<LinkScope> links;       ///< nullopt: choose_links()
  UnwindMethod unwind = UnwindMethod::kAuto;
  std::optional<LiveTable> live_table;  ///< nullopt: the arena if the kernel can do it
  std::uint64_t min_block_bytes = 0;    ///< smaller blocks are not followed
  std::uint32_t stack_depth = kMaxStackDepth;
  std::optional<std::uint32_t> max_blocks;        ///< live blocks the table can hold; nullopt: it depends on the table
  std::uint32_t max_stacks = 1U << 17;            ///< distinct stacks the table can hold
  std::optional<std::uint64_t> max_memory_bytes;  ///< of the kernel's tables; nullopt: as much as they need
};

}  // namespace hawk
