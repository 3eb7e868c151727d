#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "userspace/base/result.h"
#include "userspace/base/unique_fd.h"
#include "userspace/tracer/links.h"
#include "userspace/tracer/uprobe_events.h"

struct bpf_program;

namespace hawk {

/// Probes that a process passes on to the processes that it makes: their first instruction is traced already, without
/// stopping them. Each probe is one event and runs its program once, in however many processes: perf events only say
/// in which. They are opened disabled, since it is their being there that counts (uprobe_perf_filter,
/// kernel/trace/trace_uprobe.c), and so they cost no switch between tasks anything. A process without one that comes
/// upon a breakpoint in copied memory has it removed by the kernel.
class InheritedProbes {
 public:
  static Result<InheritedProbes> make();

  /// What a process's having a probe rests on: one for each of its threads, each of which passes on its own.
  struct Held {
    std::uint64_t event = 0;
    std::vector<UniqueFd> threads;
  };
  /// Has `program` run in the process `pid`, and in those that it will make, at these instructions of the file open
  /// as `fd`; `on_return`: at the returns of the functions that they are the first ones of. It holds for as long as
  /// what is returned.
  Result<std::vector<Held>> add(bpf_program* program, int fd, const std::vector<Probe>& probes, bool on_return,
                                int pid);

  /// Holds until remove_all() what a process no longer needs itself: those that it has made have theirs by it.
  void keep(std::vector<Held> held);
  /// Takes them from all processes, held or not.
  void remove_all();

 private:
  struct Event {
    std::uint64_t id = 0;
    UniqueFd link;  ///< keeps the program on it
  };
  /// Device and inode of the file, offset, whether it is on return, and the program.
  using Key = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, bool, int>;

  explicit InheritedProbes(UprobeEvents events) : events_(std::move(events)) {}
  Result<Event*> event_of(const Key& key, int fd, const Probe& probe);

  UprobeEvents events_;  // destroyed last: it cannot remove what is in use
  std::map<Key, Event> by_key_;
  std::vector<Held> kept_;
};

}  // namespace hawk
