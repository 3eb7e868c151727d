#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "userspace/base/result.h"
#include "userspace/base/unique_fd.h"
#include "userspace/tracer/links.h"
#include "userspace/tracer/uprobe_events.h"

struct bpf_program;
struct stat;

namespace hawk {

/// Probes that a process passes on to the processes that it makes: their first instruction is traced already, without
/// stopping them. All probes that a program has in a file are one event, for each event costs every thread that is made
/// some 4 us. It runs its program once for a hit, in however many processes: perf events only say in which. They are
/// opened disabled, since it is their being there that counts (uprobe_perf_filter, kernel/trace/trace_uprobe.c), and so
/// they cost no switch between tasks anything. A process without one that comes upon a breakpoint in copied memory has
/// it removed by the kernel.
///
/// At each hit the kernel looks for the process among all that have the event, the newest first: 4 to 7 ns for each
/// that comes before it, and three times for a malloc and free. It does not where the event is there for all processes
/// as well (nr_systemwide, kernel/trace/trace_uprobe.c). Since the program stays on the same uprobe, and runs once for
/// a hit, that can begin at any time: no call is missed, and none seen twice. It stays so: when the kernel takes
/// breakpoints from other processes, one that fork has just made does not count as having the event for a moment.
class InheritedProbes {
 public:
  /// `cookies_fd`: of the map probe_cookies.
  static Result<InheritedProbes> make(int cookies_fd);

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

  /// Has the probes in all processes that map the files, those included that are added later. Return probes stay where
  /// they are: the return addresses of others must not be replaced. On failure it is as it was.
  Result<void> extend_to_all();

  /// What a process has by itself. Those that it makes have theirs by it, and need it until they have ended, as do
  /// those that they make.
  struct Share {
    std::vector<std::shared_ptr<Share>> makers = {};  ///< of the process that has made it, or may have
    std::vector<Held> held = {};
    bool has_ended = false;          ///< the process
    bool has_left_a_living = false;  ///< it, or one that has its probes by it, is not traced any more, and lives
  };
  std::shared_ptr<Share> make_share();
  /// By whom a process has its probes. nullptr: it is not known, and may be any of those that are there.
  void note_maker(Share& share, std::shared_ptr<Share> maker);
  /// The process is not traced any more. It keeps its probes, and passes them on, until close_left().
  void leave(std::shared_ptr<Share> share);
  /// Takes the probes from processes that have been left, unless one that is still traced has its own by them.
  void close_left();
  /// When the kernel takes probes from a process that lives, one that fork is just making can lose the same probes.
  /// Whether that may be so of one that was made at that time (CLOCK_MONOTONIC).
  bool may_have_lost(const Share& share, std::uint64_t made_ns) const;
  /// To be called now and then: removes events that nobody has needed for a minute. They hold on to their file, which
  /// may have been deleted since.
  void remove_unused();
  /// Takes them from all processes, held or not.
  void remove_all();

 private:
  using Time = std::chrono::steady_clock::time_point;

  struct Event {
    std::uint64_t id = 0;
    UniqueFd link;                           ///< keeps the program on it
    UniqueFd everywhere;                     ///< has it in all processes
    std::vector<std::uint64_t> cookie_keys;  ///< in the map probe_cookies
    std::optional<Time> unused_since;
  };
  /// When probes were taken from processes that live.
  struct Removal {
    std::uint64_t began_ns = 0;
    std::uint64_t ended_ns = 0;
    std::set<std::uint64_t> events;
  };
  /// Device and inode of the file, whether it is on return, the program, and the offsets.
  using Key = std::tuple<std::uint64_t, std::uint64_t, bool, int, std::vector<std::uint64_t>>;

  InheritedProbes(UprobeEvents events, int cookies_fd) : events_(std::move(events)), cookies_fd_(cookies_fd) {}
  std::vector<std::pair<Key, std::vector<Probe>>> events_for(const struct stat& file, const bpf_program* program,
                                                             const std::vector<Probe>& probes, bool on_return) const;
  Result<Event*> event_of(const Key& key, int fd);
  /// The cookie by which the programs know the probes of a new event.
  Result<std::uint64_t> cookie_for(Event& event, std::span<const Probe> probes, bool on_return);
  std::set<std::uint64_t> used_events() const;
  void remove(const std::vector<Key>& unused);

  UprobeEvents events_;  // destroyed last: it cannot remove what is in use
  int cookies_fd_;
  std::size_t cookies_used_ = 0;
  std::map<Key, Event> by_key_;
  std::vector<std::weak_ptr<Share>> shares_;  ///< all, and some that are gone
  std::vector<std::shared_ptr<Share>> left_;
  std::deque<Removal> removals_;  ///< the last ones
  Time looked_for_unused_{};
  bool is_for_all_ = false;
};

}  // namespace hawk
