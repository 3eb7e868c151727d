#include "userspace/daemon/trace_groups.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "userspace/base/log.h"

namespace hawk {
namespace {

/// Each takes as much memory as the first.
constexpr std::size_t kMostGroups = 3;

bool has(const TraceGroup& group, const ProcessTrace& trace) {
  return std::any_of(group.traces().begin(), group.traces().end(),
                     [&](const auto& its) { return its.get() == &trace; });
}

}  // namespace

Result<void> TraceGroups::load(TraceConfig config) {
  if (is_loaded()) return {};
  config_ = std::move(config);
  // Of all of them: heaps of several are told in one recording.
  config_.clock_began = std::chrono::steady_clock::now();
  return add_group();
}

Result<void> TraceGroups::add_group() {
  auto added = std::make_unique<TraceGroup>(config_);
  HAWK_TRY_VOID(added->load());
  TraceGroup* const group = added.get();
  loop_.watch(group->wakeup_fd(), [group](short) -> Result<void> {
    group->adjust_memory();
    return {};
  });
  loop_.watch(group->mapping_fd(), [this, group](short) -> Result<void> {
    group->take_mapping_events();
    mappings_taken_();
    return {};
  });
  groups_.push_back(std::move(added));
  return {};
}

void TraceGroups::remove_group(std::size_t number) {
  loop_.forget(groups_[number]->wakeup_fd());
  loop_.forget(groups_[number]->mapping_fd());
  groups_.erase(groups_.begin() + static_cast<std::ptrdiff_t>(number));
}

void TraceGroups::unload() {
  while (!groups_.empty()) remove_group(groups_.size() - 1);
}

std::vector<ProcessTrace*> TraceGroups::traces() const {
  std::vector<ProcessTrace*> all;
  for (const auto& group : groups_) {
    for (const auto& trace : group->traces()) all.push_back(trace.get());
  }
  return all;
}

std::size_t TraceGroups::trace_count() const {
  std::size_t count = 0;
  for (const auto& group : groups_) count += group->traces().size();
  return count;
}

TraceGroup& TraceGroups::group_of(const ProcessTrace& trace) {
  const auto found =
      std::find_if(groups_.begin(), groups_.end(), [&](const auto& group) { return has(*group, trace); });
  return found != groups_.end() ? **found : newest();
}

void TraceGroups::drain() {
  for (const auto& group : groups_) group->drain();
}

Result<void> TraceGroups::read_lives() {
  for (const auto& group : groups_) HAWK_TRY_VOID(group->read_lives());
  return {};
}

/// Those of every group, also if one fails.
Result<void> TraceGroups::end(const std::vector<ProcessTrace*>& ending, TraceGroup::EndOptions options) {
  Result<void> ended;
  for (const auto& group : groups_) {
    std::vector<ProcessTrace*> its;
    std::copy_if(ending.begin(), ending.end(), std::back_inserter(its),
                 [&](const ProcessTrace* trace) { return has(*group, *trace); });
    if (its.empty()) continue;
    if (Result<void> one = group->end(its, options); !one) ended = std::move(one);
  }
  return ended;
}

void TraceGroups::remove(ProcessTrace& trace) { group_of(trace).remove(trace); }

std::uint64_t TraceGroups::table_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& group : groups_) bytes += group->table_bytes();
  return bytes;
}

void TraceGroups::remove_unused_groups() {
  for (std::size_t number = groups_.size() - 1; number-- > 0;) {
    if (groups_[number]->traces().empty()) remove_group(number);
  }
}

bool TraceGroups::may_add_group() const {
  constexpr std::chrono::minutes kRetry{1};
  if (failed_at_ && std::chrono::steady_clock::now() - *failed_at_ < kRetry) return false;
  // Memory that is bounded is so for all of them together.
  const std::size_t most = config_.max_memory_bytes ? 1 : kMostGroups;
  return groups_.size() < most || groups_.back()->traces().empty();
}

void TraceGroups::make_room(const std::function<std::vector<int>()>& pids) {
  if (!is_loaded()) return;
  remove_unused_groups();
  if (!newest().is_filling_up() || !may_add_group()) return;
  config_.first_processes = pids();
  if (const Result<void> added = add_group(); !added) {
    failed_at_ = std::chrono::steady_clock::now();
    return log_warning(fmt::format("make room for the stacks of further processes: {}", added.error().what));
  }
  remove_unused_groups();
  log_verbose(fmt::format(
      "half of the room for stacks or points was taken: further processes have tables of their own, {} in all",
      groups_.size()));
}

}  // namespace hawk
