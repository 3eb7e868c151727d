#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hawk {

/// The process that makes a group of uprobe events, so that another one can tell whether it still lives. The kernel
/// has one table of events for all pid namespaces, and a number means another process in each.
struct EventMaker {
  std::uint64_t pid_namespace = 0;  ///< inode number; 0: not known
  int pid = 0;                      ///< in that namespace
  std::uint64_t start_time = 0;     ///< of the process, as /proc/PID/stat says in its time namespace

  bool operator==(const EventMaker&) const = default;
};

/// This process.
EventMaker this_maker();

/// The name of the maker's group with that number.
std::string group_name(const EventMaker& maker, unsigned number);

/// Who made an event, GROUP/NAME. nullopt: no hawktrace, or one that named its groups by its process number alone.
std::optional<EventMaker> maker_of(std::string_view event);

/// Whether the maker is known to have ended, as `self`, this process, sees it; when in doubt, it lives: events that are
/// taken from a hawktrace which uses them crash the kernel (6.18), and those of a dead one have no effect.
bool has_ended(const EventMaker& maker, const EventMaker& self);

}  // namespace hawk
