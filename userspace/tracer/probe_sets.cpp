#include "userspace/tracer/probe_sets.h"

#include <algorithm>
#include <array>

#include "bpf/kinds.h"

namespace hawk {
namespace {

std::uint64_t cookie_of(const AllocatorFile& allocator, const AllocatorFunction& function) {
  std::uint64_t cookie = (function.probe_offset - function.entry_offset) << HAWK_COOKIE_ENTRY_SHIFT | function.kind;
  // To the programs it makes no difference why no return address is replaced.
  if (function.may_throw || function.yields.opens_at_entry) cookie |= HAWK_COOKIE_MAY_THROW;
  if (allocator.is_library) cookie |= HAWK_COOKIE_IN_LIBRARY;
  constexpr std::array<std::uint64_t, 3> kPassedIn = {HAWK_RDI, HAWK_RSI, HAWK_RDX};
  for (std::size_t i = 0; i < kPassedIn.size(); ++i) {
    cookie |= (function.arguments[i] ^ kPassedIn[i]) << (HAWK_COOKIE_MOVED_SHIFT + 4 * i);
  }
  const CallerFrame& frame = function.frame;
  cookie |= std::uint64_t{frame.slot_words} << HAWK_COOKIE_FRAME_SLOT_SHIFT;
  if (frame.saved_rbp_words) cookie |= (std::uint64_t{*frame.saved_rbp_words} + 1) << HAWK_COOKIE_FRAME_RBP_SHIFT;
  return cookie;
}

/// In the midst of the function, where its return probe may begin: with the size in a register as malloc's argument is.
Probe late_return_probe(const YieldPoint& point) {
  return {.file_offset = point.file_offset,
          .cookie = HAWK_CALL_MALLOC | (std::uint64_t{point.size.index} ^ HAWK_RDI) << HAWK_COOKIE_MOVED_SHIFT};
}

void add_plan(const AllocatorFunction& function, const Probe& entry, ProbeSets& sets) {
  if (function.yields.opens_at_entry) sets.planned_entries.push_back(entry);
  for (const YieldPoint& point : function.yields.points) {
    if (point.kind == PointKind::kReturnProbe) sets.returning.push_back(late_return_probe(point));
  }
}

void add_throwing(const AllocatorFunction& function, const Probe& entry, ProbeSets& sets) {
  sets.entries.push_back(entry);
  for (const std::uint64_t offset : function.return_offsets)
    sets.throwing_returns.push_back({.file_offset = offset, .cookie = HAWK_COOKIE_AT_RET});
  for (const ReturnPointAt& at : function.return_points)
    sets.throwing_returns.push_back({.file_offset = at.file_offset, .cookie = return_cookie(at.point)});
}

}  // namespace

std::uint64_t return_cookie(const ReturnPoint& point) {
  std::uint64_t cookie = HAWK_COOKIE_AT_RET;
  if (point.condition)
    cookie |= HAWK_COOKIE_RETURNS_IF | std::uint64_t{*point.condition} << HAWK_COOKIE_CONDITION_SHIFT;
  cookie |= std::uint64_t{point.result_register} << HAWK_COOKIE_RESULT_SHIFT;
  cookie |= std::uint64_t{point.slot_words} << HAWK_COOKIE_SLOT_SHIFT;
  if (point.saved_rbp_words) cookie |= (std::uint64_t{*point.saved_rbp_words} + 1) << HAWK_COOKIE_SAVED_RBP_SHIFT;
  return cookie;
}

bool has_moved_block(const Probe& probe) { return (probe.cookie >> HAWK_COOKIE_MOVED_SHIFT & HAWK_COOKIE_MOVED) != 0; }

ProbeSets sort_probes(const AllocatorFile& allocator) {
  ProbeSets sets;
  for (const AllocatorFunction& function : allocator.functions) {
    const Probe probe = {.file_offset = function.probe_offset, .cookie = cookie_of(allocator, function)};
    if (function.kind == HAWK_CALL_FREE) {
      sets.frees.push_back(probe);
    } else if (!function.yields.points.empty()) {
      add_plan(function, probe, sets);
    } else if (!function.may_throw) {
      sets.returning.push_back(probe);
    } else {
      add_throwing(function, probe, sets);
    }
  }
  sets.yields = yield_probes_of(allocator);
  for (const AllocatorFunction& function : allocator.unfollowed)
    sets.unfollowed.push_back({.file_offset = function.probe_offset, .cookie = cookie_of(allocator, function)});
  // Two throwing functions may share a slow path and hence its ret.
  std::sort(sets.throwing_returns.begin(), sets.throwing_returns.end(),
            [](const Probe& a, const Probe& b) { return a.file_offset < b.file_offset; });
  sets.throwing_returns.erase(
      std::unique(sets.throwing_returns.begin(), sets.throwing_returns.end(),
                  [](const Probe& a, const Probe& b) { return a.file_offset == b.file_offset; }),
      sets.throwing_returns.end());
  return sets;
}

}  // namespace hawk
