#include "userspace/tracer/inherited_probes.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/core.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <iterator>
#include <utility>

#include "bpf/kinds.h"
#include "userspace/base/system_failure.h"
#include "userspace/base/threads.h"
#include "userspace/process/thread_ids.h"
#include "userspace/tracer/monotonic_time.h"

namespace hawk {
namespace {

constexpr int kAllTasks = -1;

/// What would be sampled matters only in that it keeps the kernel from exchanging the events of a process and of a copy
/// of it instead of switching them (perf_event_context_sched_out, nr_no_switch_fast; since 6.13, before that EINVAL):
/// they are bound to a process each, and the end of the one would take the breakpoints of the other. Without it most of
/// the calls of a process that starts programs were lost (604 of 5,000 seen).
///
/// `tid`: kAllTasks, or that of a thread.
UniqueFd open_event(std::uint64_t event, int tid, bool is_inherited) {
  perf_event_attr attr = {};
  attr.type = PERF_TYPE_TRACEPOINT;
  attr.size = sizeof(attr);
  attr.config = event;
  attr.disabled = 1;
  attr.inherit = is_inherited ? 1 : 0;
  attr.sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_TID;
  // Events of all tasks are those of a processor: any, since it is the event's being there that counts.
  const int cpu = tid == kAllTasks ? ::sched_getcpu() : -1;
  return UniqueFd(static_cast<int>(::syscall(SYS_perf_event_open, &attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC)));
}

/// A process of ours that does nothing, and ends with this.
class PassingProcess {
 public:
  PassingProcess() {
    const pid_t maker = ::getpid();
    pid_ = static_cast<int>(::syscall(SYS_clone, 0, nullptr, nullptr, nullptr, nullptr));
    if (pid_ == 0) wait_for_end(maker);
  }
  PassingProcess(const PassingProcess&) = delete;
  PassingProcess& operator=(const PassingProcess&) = delete;
  ~PassingProcess() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, __WALL) < 0 && errno == EINTR) {
    }
  }
  int pid() const { return pid_; }

 private:
  /// In a copy of a program with several threads: only system calls are allowed.
  [[noreturn]] static void wait_for_end(pid_t maker) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (::getppid() == maker) ::poll(nullptr, 0, -1);
    ::_exit(0);
  }

  int pid_ = -1;
};

tl::unexpected<Error> open_failure(const Probe& probe, int error) {
  return system_failure(ExitCode::kPrivilege,
                        fmt::format("open a perf event of the uprobe at offset {:#x}", probe.file_offset), error,
                        error == EINVAL ? "--follow requires Linux 6.13" : "");
}

/// Of a thread that has one, those that it makes have one: it is over when all that are there do.
Result<std::vector<UniqueFd>> open_for_threads(std::uint64_t event, const Probe& probe, int pid) {
  constexpr int kRounds = 16;
  std::vector<UniqueFd> opened;
  std::set<int> known;
  int error = ESRCH;
  for (int round = 0; round < kRounds; ++round) {
    const std::size_t before = known.size();
    for (const int tid : thread_ids(fmt::format("/proc/{}", pid))) {
      if (!known.insert(tid).second) continue;
      UniqueFd fd = open_event(event, tid, true);
      if (!fd) error = errno;
      if (!fd && error != ESRCH) return open_failure(probe, error);
      if (fd) opened.push_back(std::move(fd));
    }
    if (known.size() == before) break;
  }
  if (opened.empty()) return open_failure(probe, error);
  return opened;
}

/// The program belongs to the uprobe, whichever perf event puts it there. One of its own, that no process inherits:
/// when such a copy ends, the kernel takes the program off for all (seen on 6.18: perf_event_alloc copies `prog`, and
/// perf_event_free_bpf_prog detaches it), and lets the process wait half a second for that. It is that of a process
/// which has ended by then, so that nobody has the probe by it.
Result<UniqueFd> link_program(const bpf_program* program, std::uint64_t event, const Probe& probe,
                              const PassingProcess& passing) {
  if (passing.pid() <= 0) return system_failure(ExitCode::kPrivilege, "start a process for a moment", EAGAIN);
  const UniqueFd anchor = open_event(event, passing.pid(), false);
  if (!anchor) return open_failure(probe, errno);
  LIBBPF_OPTS(bpf_link_create_opts, options, .perf_event = {.bpf_cookie = probe.cookie});
  UniqueFd link(bpf_link_create(bpf_program__fd(program), anchor.get(), BPF_PERF_EVENT, &options));
  if (link) return link;
  return system_failure(ExitCode::kPrivilege, fmt::format("attach to the uprobe at offset {:#x}", probe.file_offset),
                        errno);
}

std::uint64_t offset_in_page(const Probe& probe) { return probe.file_offset % HAWK_OFFSETS_IN_PAGE; }

/// By events: those of one are known by where in their pages they lie, unless they are return probes, which need not be
/// known. No instruction is probed twice.
std::vector<std::vector<Probe>> by_event(std::vector<Probe> probes, bool on_return, bool may_share) {
  const auto is_before = [](const Probe& a, const Probe& b) { return a.file_offset < b.file_offset; };
  const auto is_same = [](const Probe& a, const Probe& b) { return a.file_offset == b.file_offset; };
  std::stable_sort(probes.begin(), probes.end(), is_before);
  probes.erase(std::unique(probes.begin(), probes.end(), is_same), probes.end());
  std::vector<std::vector<Probe>> events;
  for (const Probe& probe : probes) {
    const auto has_room = [&](const std::vector<Probe>& event) {
      const auto is_there = [&](const Probe& other) { return offset_in_page(other) == offset_in_page(probe); };
      return may_share && (on_return || std::none_of(event.begin(), event.end(), is_there));
    };
    const auto found = std::find_if(events.begin(), events.end(), has_room);
    if (found != events.end()) {
      found->push_back(probe);
    } else {
      events.push_back({probe});
    }
  }
  return events;
}

std::vector<std::uint64_t> offsets_of(const std::vector<Probe>& probes) {
  std::vector<std::uint64_t> offsets;
  offsets.reserve(probes.size());
  for (const Probe& probe : probes) offsets.push_back(probe.file_offset);
  return offsets;
}

}  // namespace

Result<InheritedProbes> InheritedProbes::make(int cookies_fd) {
  return InheritedProbes(HAWK_TRY(UprobeEvents::make()), cookies_fd);
}

Result<InheritedProbes::Event*> InheritedProbes::event_of(const Key& key, int fd) {
  const auto known = by_key_.find(key);
  if (known != by_key_.end()) return &known->second;
  const std::uint64_t id = HAWK_TRY(events_.add(fd, std::get<std::vector<std::uint64_t>>(key), std::get<bool>(key)));
  return &by_key_.emplace(key, Event{.id = id, .link = {}, .everywhere = {}, .cookie_keys = {}, .unused_since = {}})
              .first->second;
}

Result<std::uint64_t> InheritedProbes::cookie_for(Event& event, std::span<const Probe> probes, bool on_return) {
  if (on_return || probes.size() == 1) return probes.front().cookie;
  for (const Probe& probe : probes) {
    const std::uint64_t key = event.id * HAWK_OFFSETS_IN_PAGE + offset_in_page(probe);
    if (bpf_map_update_elem(cookies_fd_, &key, &probe.cookie, BPF_ANY) != 0)
      return system_failure(ExitCode::kPrivilege, "note the probes of an event", errno);
    event.cookie_keys.push_back(key);
    ++cookies_used_;
  }
  return HAWK_COOKIE_OF_EVENT | event.id;
}

/// In as few events as possible. Those that are known already are taken in any case.
std::vector<std::pair<InheritedProbes::Key, std::vector<Probe>>> InheritedProbes::events_for(
    const struct stat& file, const bpf_program* program, const std::vector<Probe>& probes, bool on_return) const {
  const auto with_keys = [&](bool may_share) {
    std::vector<std::pair<Key, std::vector<Probe>>> keyed;
    for (std::vector<Probe>& event : by_event(probes, on_return, may_share)) {
      keyed.emplace_back(Key(file.st_dev, file.st_ino, on_return, bpf_program__fd(program), offsets_of(event)),
                         std::move(event));
    }
    return keyed;
  };
  std::vector<std::pair<Key, std::vector<Probe>>> shared = with_keys(true);
  const bool has_room = cookies_used_ + probes.size() <= HAWK_MAX_EVENT_PROBES;
  const auto is_known = [&](const auto& event) { return by_key_.contains(event.first); };
  return has_room || std::all_of(shared.begin(), shared.end(), is_known) ? shared : with_keys(false);
}

Result<std::vector<InheritedProbes::Held>> InheritedProbes::add(bpf_program* program, int fd,
                                                                const std::vector<Probe>& probes, bool on_return,
                                                                int pid) {
  struct stat file = {};
  if (::fstat(fd, &file) != 0) return system_failure(ExitCode::kPrivilege, "identify the file to probe", errno);
  std::vector<Held> held;
  std::optional<PassingProcess> passing;
  for (const auto& [key, shared] : events_for(file, program, probes, on_return)) {
    Event* event = HAWK_TRY(event_of(key, fd));
    held.push_back({.event = event->id, .threads = HAWK_TRY(open_for_threads(event->id, shared.front(), pid))});
    if (event->link) continue;
    const std::uint64_t cookie = HAWK_TRY(cookie_for(*event, shared, on_return));
    const Probe first = {.file_offset = shared.front().file_offset, .cookie = cookie};
    if (!passing) passing.emplace();
    event->link = HAWK_TRY(link_program(program, event->id, first, *passing));
    // Without it hits take longer, and that is all.
    if (is_for_all_ && !on_return) event->everywhere = open_event(event->id, kAllTasks, false);
  }
  return held;
}

Result<void> InheritedProbes::extend_to_all() {
  std::vector<std::pair<Event*, UniqueFd>> opened;
  for (auto& [key, event] : by_key_) {
    if (std::get<bool>(key) || !event.link) continue;
    opened.emplace_back(&event, open_event(event.id, kAllTasks, false));
    if (!opened.back().second) return system_failure(ExitCode::kPrivilege, "open a perf event of all processes", errno);
  }
  for (auto& [event, everywhere] : opened) event->everywhere = std::move(everywhere);
  is_for_all_ = true;
  return {};
}

std::shared_ptr<InheritedProbes::Share> InheritedProbes::make_share() {
  std::erase_if(shares_, [](const std::weak_ptr<Share>& share) { return share.expired(); });
  auto share = std::make_shared<Share>();
  shares_.push_back(share);
  return share;
}

/// One without probes of its own has passed on those of its maker alone: a family of any number of generations is not a
/// chain of as many shares.
void InheritedProbes::note_maker(Share& share, std::shared_ptr<Share> maker) {
  if (maker) {
    share.makers = maker->held.empty() ? maker->makers : std::vector{std::move(maker)};
    return;
  }
  for (const std::weak_ptr<Share>& other : shares_) {
    std::shared_ptr<Share> living = other.lock();
    if (living && living.get() != &share && !living->held.empty()) share.makers.push_back(std::move(living));
  }
}

void InheritedProbes::leave(std::shared_ptr<Share> share) {
  if (!share->has_ended) {
    std::vector<Share*> marked = {share.get()};
    while (!marked.empty()) {
      Share* const its = marked.back();
      marked.pop_back();
      if (std::exchange(its->has_left_a_living, true)) continue;
      for (const std::shared_ptr<Share>& maker : its->makers) marked.push_back(maker.get());
    }
  }
  left_.push_back(std::move(share));
}

void InheritedProbes::close_left() {
  std::map<std::uint64_t, std::vector<UniqueFd>> closing;
  bool has_living = false;
  // With one goes what only that one needed.
  for (std::size_t before = 0; before != left_.size();) {
    before = left_.size();
    for (std::shared_ptr<Share>& share : left_) {
      if (share.use_count() > 1) continue;
      has_living |= share->has_left_a_living;
      for (Held& held : share->held) {
        std::move(held.threads.begin(), held.threads.end(), std::back_inserter(closing[held.event]));
      }
      share.reset();
    }
    std::erase(left_, nullptr);
  }
  if (closing.empty()) return;
  Removal removal = {.began_ns = now_ns(), .ended_ns = 0, .events = {}};
  std::vector<std::vector<UniqueFd>> by_event;
  for (auto& [event, fds] : closing) {
    removal.events.insert(event);
    by_event.push_back(std::move(fds));
  }
  destroy_at_once(by_event);
  // The kernel takes no breakpoint from anybody where the task of an event has ended (trace_uprobe_filter_remove).
  if (!has_living) return;
  constexpr std::size_t kRemembered = 64;
  removal.ended_ns = now_ns();
  removals_.push_back(std::move(removal));
  if (removals_.size() > kRemembered) removals_.pop_front();
}

bool InheritedProbes::may_have_lost(const Share& share, std::uint64_t made_ns) const {
  // A copy of a large memory takes so long, and is announced when it is complete.
  constexpr std::uint64_t kCopyNs = 50'000'000;
  const auto is_in_time = [&](const Removal& its) {
    return its.began_ns <= made_ns && made_ns <= its.ended_ns + kCopyNs;
  };
  std::set<const Share*> seen;
  std::vector<const Share*> open = {&share};
  while (!open.empty()) {
    const Share* const its = open.back();
    open.pop_back();
    if (!seen.insert(its).second) continue;
    for (const std::shared_ptr<Share>& maker : its->makers) open.push_back(maker.get());
    for (const Held& held : its->held) {
      const auto has_lost = [&](const Removal& removal) {
        return is_in_time(removal) && removal.events.contains(held.event);
      };
      if (std::any_of(removals_.begin(), removals_.end(), has_lost)) return true;
    }
  }
  return false;
}

/// By processes that are traced, or have been left and not closed yet.
std::set<std::uint64_t> InheritedProbes::used_events() const {
  std::set<std::uint64_t> used;
  for (const std::weak_ptr<Share>& share : shares_) {
    if (const std::shared_ptr<Share> living = share.lock()) {
      for (const Held& held : living->held) used.insert(held.event);
    }
  }
  return used;
}

void InheritedProbes::remove_unused() {
  constexpr std::chrono::seconds kOften{10}, kLongest{60};
  const Time now = std::chrono::steady_clock::now();
  if (now - looked_for_unused_ < kOften) return;
  looked_for_unused_ = now;
  const std::set<std::uint64_t> used = used_events();
  std::vector<Key> unused;
  for (auto& [key, event] : by_key_) {
    if (used.contains(event.id)) {
      event.unused_since.reset();
    } else if (now - event.unused_since.value_or(now) >= kLongest) {
      unused.push_back(key);
    } else if (!event.unused_since) {
      event.unused_since = now;
    }
  }
  if (!unused.empty()) remove(unused);
}

void InheritedProbes::remove(const std::vector<Key>& unused) {
  std::vector<std::vector<UniqueFd>> closing;
  for (const Key& key : unused) {
    Event& event = by_key_.at(key);
    for (const std::uint64_t cookie_key : event.cookie_keys) {
      if (bpf_map_delete_elem(cookies_fd_, &cookie_key) == 0) --cookies_used_;
    }
    closing.emplace_back();
    closing.back().push_back(std::move(event.link));
    closing.back().push_back(std::move(event.everywhere));
  }
  destroy_at_once(closing);
  for (const Key& key : unused) {
    events_.remove(by_key_.at(key).id);
    by_key_.erase(key);
  }
}

void InheritedProbes::remove_all() {
  // The kernel waits for each uprobe that goes: side by side with the others.
  std::vector<std::vector<UniqueFd>> by_event;
  std::vector<std::shared_ptr<Share>> shares;
  for (const std::weak_ptr<Share>& share : std::exchange(shares_, {})) {
    if (std::shared_ptr<Share> living = share.lock()) shares.push_back(std::move(living));
  }
  for (auto& [key, event] : by_key_) {
    by_event.emplace_back();
    by_event.back().push_back(std::move(event.link));
    for (const std::shared_ptr<Share>& share : shares) {
      for (Held& held : share->held) {
        if (held.event == event.id)
          std::move(held.threads.begin(), held.threads.end(), std::back_inserter(by_event.back()));
      }
    }
    // Last, or the kernel would first look for the processes that have others.
    by_event.back().push_back(std::move(event.everywhere));
  }
  for (const std::shared_ptr<Share>& share : shares) share->held.clear();
  left_.clear();
  destroy_at_once(by_event);
}

}  // namespace hawk
