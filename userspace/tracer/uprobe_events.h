#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "userspace/base/result.h"
#include "userspace/base/unique_fd.h"

namespace hawk {

/// Uprobe events that have a name: the kernel's "uprobe_events" (Documentation/trace/uprobetracer.rst). Unlike the
/// events without one, any number of perf events can be opened of each, and a process that is made by fork has those of
/// its maker from the beginning. All are removed in the end; those of a hawktrace that was killed, which are without
/// effect, by the next one.
class UprobeEvents {
 public:
  static Result<UprobeEvents> make();
  UprobeEvents(UprobeEvents&& other) noexcept;
  UprobeEvents& operator=(UprobeEvents&& other) noexcept;
  ~UprobeEvents();

  /// Defines an event: any of the instructions at `file_offsets` of the file open as `fd`, which are all different, or
  /// the returns of the functions that they are the first ones of. Returns the number by which perf_event_open knows
  /// it.
  Result<std::uint64_t> add(int fd, std::span<const std::uint64_t> file_offsets, bool on_return);
  /// Removes the event with that number, which nobody has open; if the kernel refuses, it is removed in the end.
  void remove(std::uint64_t id) noexcept;

 private:
  UprobeEvents(UniqueFd tracefs, std::string group) : tracefs_(std::move(tracefs)), group_(std::move(group)) {}
  bool remove_named(std::size_t number) noexcept;
  void remove_all() noexcept;

  UniqueFd tracefs_;  ///< its root, mounted nowhere
  std::string group_;
  std::size_t count_ = 0;                        ///< of the names that have been given
  std::map<std::size_t, std::uint64_t> events_;  ///< by what their names count; those that are there
};

/// Removes those of hawktraces that have been killed.
void remove_orphaned_events();

}  // namespace hawk
