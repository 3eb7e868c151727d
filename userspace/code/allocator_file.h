#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bpf/kinds.h"
#include "userspace/code/allocator_catalogue.h"
#include "userspace/code/caller_frame.h"
#include "userspace/code/yield_plan.h"

namespace hawk {

/// The furthest that either lies from rsp at the probe of a function: what its cookie has room for.
constexpr std::uint32_t kMaxFrameWords = HAWK_COOKIE_FRAME_WORDS - 1;

/// An instruction, emulated by the kernel, from which a function is certain to return, and what it will return.
struct ReturnPoint {
  std::uint64_t vaddr = 0;
  /// It is a branch, and the function is certain to return only if this condition holds: the low four bits of the
  /// opcode of a branch that would be taken then. nullopt: it always is.
  std::optional<std::uint8_t> condition;
  std::uint8_t result_register = 0;  ///< holds what the function will return; the number that instructions encode
  std::uint32_t slot_words = 0;      ///< words from rsp up to the return address
  /// Words from rsp up to where the caller's rbp has been saved; nullopt: rbp itself still holds it, or again.
  std::optional<std::uint32_t> saved_rbp_words;
  bool operator==(const ReturnPoint&) const = default;
};

/// See ReturnPoint.
struct ReturnPointAt {
  std::uint64_t file_offset = 0;
  ReturnPoint point;
};

/// The furthest that a probe can lie behind the first instruction of its function, in bytes: what its cookie has room
/// for.
constexpr std::uint64_t kMaxProbeDistance = HAWK_COOKIE_ENTRY;

/// One address to probe, with all the names it goes by.
struct AllocatorFunction {
  std::vector<std::string> names;  ///< sorted; same-address aliases once: {"cfree", "free"}
  hawk_call_kind kind = HAWK_CALL_NONE;
  std::uint64_t entry_offset = 0;  ///< file offset of the first instruction
  std::uint64_t probe_offset = 0;  ///< file offset of the instruction chosen for the entry probe
  std::string instruction;         ///< its mnemonic, lower case: "push", "jz"
  bool single_stepped = false;     ///< the kernel cannot emulate it
  /// Registers that hold its arguments there, by the numbers that instructions encode: see ProbePoint.
  ArgumentRegisters arguments = kPassedInOrder;
  CallerFrame frame = {};  ///< there; of functions that allocate it is as at the entry
  /// The function may throw, so that the kernel's return probe (which no unwinder can cross) is out of the question:
  /// the result is taken by probes on these `ret` instructions, as file offsets, and on return_points instead of
  /// others. Both are empty for functions that never throw. A slow path that the function jumps to may be shared with
  /// other functions, or be called from within this one: a `ret` is this function's only where rsp is what it was at
  /// the entry probe.
  std::vector<std::uint64_t> return_offsets;
  std::vector<ReturnPointAt> return_points;
  bool may_throw = false;
  /// How all of a call is seen without a return probe.
  YieldPlan yields;
};

/// Whether the kernel replaces return addresses of the function's calls, of some at least.
inline bool has_return_probe(const AllocatorFunction& function) {
  const auto takes_over = [](const YieldPoint& point) { return point.kind == PointKind::kReturnProbe; };
  const std::vector<YieldPoint>& points = function.yields.points;
  if (!points.empty()) return std::any_of(points.begin(), points.end(), takes_over);
  return function.kind != HAWK_CALL_FREE && !function.may_throw;
}

/// Whether its calls are seen at their entry.
inline bool has_entry_probe(const AllocatorFunction& function) {
  return function.yields.points.empty() || function.yields.opens_at_entry;
}

/// An allocator function that was found but cannot be probed.
struct UnprobedFunction {
  std::string name;
  std::string reason;  ///< "its code could not be followed to its returns"
};

/// What one file contributes to the process's allocator.
struct AllocatorFile {
  std::vector<AllocatorFunction> functions;  ///< sorted by entry_offset; empty: the file is no allocator
  /// Functions whose calls are counted, because what they do to which block cannot be followed.
  std::vector<AllocatorFunction> unfollowed;
  std::vector<UnprobedFunction> unprobed;
  /// The program cannot call the file's functions but through the dynamic linker: a direct call of one of them is the
  /// allocator's own.
  bool is_library = false;
};

}  // namespace hawk
