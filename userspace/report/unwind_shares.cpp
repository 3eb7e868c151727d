#include "userspace/report/unwind_shares.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace hawk {
namespace {

/// Whether the file of the outermost frame is to be named as what ended a walk.
bool names_file(hawk_end end) { return end != HAWK_END_DEPTH && end != HAWK_END_CHANGING && end != HAWK_END_NO_CODE; }

class CauseFinder {
 public:
  explicit CauseFinder(const Snapshot& snapshot) : snapshot_(snapshot), ends_(snapshot.locations.size()) {
    std::vector<char> has_no_table(snapshot.modules.size());
    for (const ModuleId module : snapshot.unwind.modules_without_table) {
      if (static_cast<std::size_t>(module) < has_no_table.size()) has_no_table[static_cast<std::size_t>(module)] = 1;
    }
    for (std::size_t location = 0; location < ends_.size(); ++location) {
      const std::optional<ModuleId>& module = snapshot.locations[location].module;
      const std::size_t index = module ? static_cast<std::size_t>(*module) : 0;
      const bool no_table = module && index < has_no_table.size() && has_no_table[index] != 0;
      ends_[location] = !module ? HAWK_END_NO_CODE : no_table ? HAWK_END_NO_TABLE : HAWK_END_OUTERMOST;
    }
    any_unruled_ = std::any_of(ends_.begin(), ends_.end(), [](hawk_end end) { return end != HAWK_END_OUTERMOST; });
  }

  /// Without its group.
  UnwindCause cause_of(const StackRecord& stack) const {
    if (stack.quality() == HAWK_STACK_GUESSED) return cause_of_guess(stack);
    UnwindCause cause{.quality = stack.quality(), .end = stack.end, .module = {}, .group = {}};
    if (names_file(stack.end) && !stack.frames.empty()) {
      cause.module = snapshot_.location(stack.frames[stack.frames.size() - 1]).module;
    }
    return cause;
  }

 private:
  UnwindCause cause_of_guess(const StackRecord& stack) const {
    UnwindCause cause{.quality = HAWK_STACK_GUESSED, .end = HAWK_END_GAP, .module = {}, .group = {}};
    if (!any_unruled_) return cause;
    const auto is_unruled = [&](LocationId location) {
      return ends_[static_cast<std::size_t>(location)] != HAWK_END_OUTERMOST;
    };
    const LocationId* const first = std::find_if(stack.frames.begin(), stack.frames.end(), is_unruled);
    if (first == stack.frames.end()) return cause;
    cause.end = ends_[static_cast<std::size_t>(*first)];
    cause.module = snapshot_.location(*first).module;
    return cause;
  }

  const Snapshot& snapshot_;
  std::vector<hawk_end> ends_;  ///< by LocationId: why no rule leads on from there; OUTERMOST: there may be one
  bool any_unruled_ = false;
};

}  // namespace

UnwindShares unwind_shares(const Snapshot& snapshot) {
  UnwindShares shares;
  if (snapshot.known_of_stacks.all_complete) {
    shares.by_quality[HAWK_STACK_COMPLETE] = {.stacks = snapshot.stacks.size(), .counters = snapshot.totals};
    return shares;
  }
  for (const StackRecord& stack : snapshot.stacks) {
    if (stack.id == kNoStack) {
      shares.not_recorded.add(stack);
      continue;
    }
    const enum hawk_stack_quality quality = stack.quality();
    shares.by_quality[quality].add(stack);
    if (quality != HAWK_STACK_COMPLETE) shares.by_end[stack.end].add(stack);
  }
  return shares;
}

std::vector<UnwindCause> unwind_causes(const Snapshot& snapshot, Quantity quantity) {
  if (snapshot.trace.unwind == "fp") return {};
  std::optional<CauseFinder> finder;
  std::map<std::tuple<int, int, std::optional<ModuleId>>, UnwindCause> causes;
  for (const StackRecord& stack : snapshot.stacks) {
    const enum hawk_stack_quality quality = stack.quality();
    if (stack.id == kNoStack || quality == HAWK_STACK_COMPLETE) continue;
    if (!finder) finder.emplace(snapshot);
    const UnwindCause cause = finder->cause_of(stack);
    causes.try_emplace({cause.quality, cause.end, cause.module}, cause).first->second.group.add(stack);
  }
  std::vector<UnwindCause> ordered;
  ordered.reserve(causes.size());
  for (const auto& [key, cause] : causes) ordered.push_back(cause);
  std::stable_sort(ordered.begin(), ordered.end(), [&](const UnwindCause& a, const UnwindCause& b) {
    return bytes_of(a.group.counters, quantity) > bytes_of(b.group.counters, quantity);
  });
  return ordered;
}

}  // namespace hawk
