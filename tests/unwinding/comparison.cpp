#include "tests/unwinding/comparison.h"

#include <fmt/core.h>

#include <algorithm>
#include <ranges>
#include <set>

#include "bpf/unwind/ends.h"
#include "tests/unwinding/allowed_differences.h"

namespace hawk {
namespace {

constexpr std::size_t kMostShown = 20;
constexpr std::string_view kEndNames[] = {
#define HAWK_END_NAME(symbol, name, text) name,
    HAWK_ENDS(HAWK_END_NAME)
#undef HAWK_END_NAME
};

/// Where two stacks part: the frame from which the ways differ.
std::uint64_t parting_frame(const HostWalk& ours, const UnwoundStack& theirs) {
  const std::size_t same = common_frames(ours.frames, theirs.frames);
  return same == 0 ? 0 : ours.frames[same - 1] & ~HAWK_FRAME_INTERRUPTED;
}

void count_difference(const HostWalk& ours, const UnwoundStack& theirs, LibdwUnwinder& libdw, Comparison& into) {
  const std::uint64_t at = parting_frame(ours, theirs);
  const AllowedDifference* allowed =
      find_allowed({libdw.module_of(at), libdw.symbol_of(at), end_name(ours.end), theirs.end});
  if (allowed) {
    ++into.known[allowed->cause];
    return;
  }
  ++into.unknown[fmt::format("after {}: ours {}, libdw {}", libdw.name_of(at), end_name(ours.end), theirs.end)];
}

void count(const HostWalk& ours, const UnwoundStack& theirs, LibdwUnwinder& libdw, Comparison& into) {
  const bool is_equal = ours.frames == theirs.frames;
  const bool is_same = is_equal && is_complete(ours) == theirs.is_complete;
  ++into.stacks;
  into.frames += ours.frames.size();
  into.equal += is_equal;
  into.complete += is_complete(ours);
  into.depth_limited += is_equal && ours.end == HAWK_END_DEPTH;
  if (!is_same) count_difference(ours, theirs, libdw, into);
  if (is_same && !is_complete(ours)) {
    ++into.incomplete[ours.end == HAWK_END_DEPTH
                          ? std::string("deeper than HAWK_MAX_FRAMES")
                          : fmt::format("{} after {}", end_name(ours.end), libdw.name_of(parting_frame(ours, theirs)))];
  }
}

HostRegisters registers_of(const StackDump& dump) {
  const std::uint64_t at = dump.registers.stack_pointer;
  return {.pc = dump.memory.word(at).value_or(0), .sp = at + 8, .fp = dump.registers.rbp};
}

}  // namespace

void Unwinders::turn_to(const StackDump& dump) {
  if (dump.maps.data() == maps_) return;
  libdw_ = std::make_unique<LibdwUnwinder>(dump.maps);
  const std::uint32_t generation = tables_.generation + 1;
  tables_ = files_.of(dump.maps);
  tables_.generation = generation;
  maps_ = dump.maps.data();
}

HostWalk Unwinders::ours(const StackDump& dump, hawk_unwind mode, std::uint32_t max_depth) {
  return thread_.walk(tables_, dump.memory, registers_of(dump), max_depth, mode);
}

HostWalk Unwinders::ours_afresh(const StackDump& dump, hawk_unwind mode, std::uint32_t max_depth) const {
  return walk_on_host(tables_, dump.memory, registers_of(dump), max_depth, mode);
}

UnwoundStack Unwinders::theirs(const StackDump& dump, std::uint32_t max_depth) {
  return libdw_->unwind(dump, max_depth);
}

std::string_view end_name(std::uint32_t end) { return end < HAWK_END_COUNT ? kEndNames[end] : "?"; }

bool is_complete(const HostWalk& walk) { return hawk_stack_quality(walk.end, walk.is_guessed) == HAWK_STACK_COMPLETE; }

std::size_t common_frames(const std::vector<std::uint64_t>& some, const std::vector<std::uint64_t>& others) {
  return static_cast<std::size_t>(std::ranges::mismatch(some, others).in1 - some.begin());
}

Comparison compare(const std::vector<DumpFile>& images) {
  Comparison result;
  Unwinders unwinders;
  std::set<std::vector<std::uint64_t>> distinct;
  for (const DumpFile& image : images) {
    for (const StackDump& dump : image.dumps()) {
      unwinders.turn_to(dump);
      const HostWalk ours = unwinders.ours(dump);
      if (!is_same_stack(ours, unwinders.ours_afresh(dump))) ++result.unknown["from the walk of a new thread"];
      if (ours.hash != hash_of(ours)) ++result.unknown["from the hash of its frames"];
      result.known_steps += ours.known_steps;
      count(ours, unwinders.theirs(dump), unwinders.libdw(), result);
      result.cut += dump.is_cut();
      result.code_ranges = std::max(result.code_ranges, unwinders.tables().ranges.size());
      distinct.insert(ours.frames);
    }
  }
  result.distinct = distinct.size();
  return result;
}

std::string Comparison::text(const std::string& program) const {
  std::string text = fmt::format(
      "{}: {} stacks ({} distinct), {:.1f} frames each: {:.3f} % equal, {:.3f} % complete\n", program, stacks, distinct,
      stacks ? static_cast<double>(frames) / static_cast<double>(stacks) : 0, equal_percent(), complete_percent());
  text += fmt::format("  {:.1f} % of all steps known\n",
                      100.0 * static_cast<double>(known_steps) / static_cast<double>(std::max<std::size_t>(frames, 1)));
  for (const auto& [cause, count] : known) text += fmt::format("  {} differ, known: {}\n", count, cause);
  for (const auto& [what, count] : unknown | std::views::take(kMostShown))
    text += fmt::format("  {} differ, UNKNOWN: {}\n", count, what);
  for (const auto& [what, count] : incomplete | std::views::take(kMostShown))
    text += fmt::format("  {} incomplete in both: {}\n", count, what);
  if (cut) text += fmt::format("  {} dumps without the outer end of their stack\n", cut);
  return text;
}

}  // namespace hawk
