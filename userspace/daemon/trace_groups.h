#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "userspace/attach/trace_group.h"
#include "userspace/base/event_loop.h"
#include "userspace/base/result.h"

namespace hawk {

/// The traces of processes that come and go for months. Each process has stacks of its own, because its code lies
/// elsewhere, and the programs never give back what these take. So when half of that room is taken, other programs are
/// loaded, for the processes that come then; the ones before go on with theirs until the last of these has ended.
class TraceGroups {
 public:
  /// `mappings_taken` is called after what processes have mapped, and which they have started, has been looked at.
  /// `loop` must live longer.
  TraceGroups(EventLoop& loop, std::function<void()> mappings_taken)
      : loop_(loop), mappings_taken_(std::move(mappings_taken)) {}
  TraceGroups(const TraceGroups&) = delete;
  TraceGroups& operator=(const TraceGroups&) = delete;
  ~TraceGroups() { unload(); }

  bool is_loaded() const { return !groups_.empty(); }
  /// Loads the first programs. All that follow are like them.
  Result<void> load(TraceConfig config);
  void unload();

  // What follows: once the programs are loaded.
  /// The group for processes that are not traced yet.
  TraceGroup& newest() { return *groups_.back(); }
  std::vector<ProcessTrace*> traces() const;
  std::size_t trace_count() const;
  /// See TraceGroup.
  void drain();
  Result<void> read_lives();
  Result<void> end(const std::vector<ProcessTrace*>& ending, TraceGroup::EndOptions options);
  void remove(ProcessTrace& trace);
  std::uint64_t table_bytes() const;
  /// Unloads the programs that have no process any more, and loads others if there will soon be no room for further
  /// processes. `pids`: says which are traced, if it comes to that.
  void make_room(const std::function<std::vector<int>()>& pids);

 private:
  Result<void> add_group();
  void remove_group(std::size_t number);
  void remove_unused_groups();
  bool may_add_group() const;
  TraceGroup& group_of(const ProcessTrace& trace);

  EventLoop& loop_;
  std::function<void()> mappings_taken_;
  TraceConfig config_;
  std::vector<std::unique_ptr<TraceGroup>> groups_;
  std::optional<std::chrono::steady_clock::time_point> failed_at_;  ///< to load others
};

}  // namespace hawk
