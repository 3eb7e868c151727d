#include "userspace/tracer/memory_thread.h"

#include <bpf/libbpf.h>
#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "userspace/base/out_of_memory.h"
#include "userspace/base/system_failure.h"
#include "userspace/base/threads.h"

namespace hawk {
namespace {

/// After the kernel had no memory.
constexpr int kRetryMs = 100;
constexpr int kForever = -1;

}  // namespace

void MemoryThread::set_realtime(bool is_wanted) {
  const sched_param parameter = {.sched_priority = is_wanted ? 1 : 0};
  ::sched_setscheduler(0, (is_wanted ? SCHED_FIFO : SCHED_OTHER) | SCHED_RESET_ON_FORK, &parameter);
}

Result<void> MemoryThread::prepare(int wakeups_fd, Work work) {
  stop_ = UniqueFd(::eventfd(0, EFD_CLOEXEC));
  if (!stop_) return system_failure(ExitCode::kPrivilege, "make an eventfd", errno);
  wakeups_ = HAWK_TRY(open_wakeups(wakeups_fd));
  work_ = std::move(work);
  return {};
}

void MemoryThread::start() {
  if (thread_.joinable() || opened_.try_wait()) return;
  thread_ = try_thread([this] { run(); });
  if (thread_.joinable()) return;
  open_for_programs();
  refused_ = true;
}

void MemoryThread::wait_until_open() {
  start();
  opened_.wait();
}

void MemoryThread::end() {
  if (!thread_.joinable()) return;
  ::eventfd_write(stop_.get(), 1);
  thread_.join();
}

/// Until the programs ask, or time is up; false: it is time to end.
bool MemoryThread::wait(int timeout_ms) const {
  std::array<pollfd, 2> fds = {{{.fd = stop_.get(), .events = POLLIN, .revents = 0},
                                {.fd = ring_buffer__epoll_fd(wakeups_.get()), .events = POLLIN, .revents = 0}}};
  ::poll(fds.data(), fds.size(), timeout_ms);
  return fds[0].revents == 0;
}

void MemoryThread::open_for_programs() {
  if (!or_out_of_memory(work_.hand_over_first)) refused_ = true;
  opened_.count_down();
}

void MemoryThread::run() {
  set_realtime(true);
  open_for_programs();
  int timeout_ms = kForever;
  while (wait(timeout_ms)) {
    ring_buffer__consume(wakeups_.get());
    const Result<void> made = or_out_of_memory(work_.make_more);
    timeout_ms = made ? kForever : kRetryMs;
    if (!made) refused_ = true;
  }
}

}  // namespace hawk
