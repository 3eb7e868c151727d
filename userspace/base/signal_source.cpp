#include "userspace/base/signal_source.h"

#include <fmt/core.h>
#include <pthread.h>
#include <sys/signalfd.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "userspace/base/system_failure.h"

namespace hawk {
namespace {

bool is_ignored(int signal_number) {
  struct sigaction action = {};
  return ::sigaction(signal_number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

void set_action(int signal_number, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  ::sigaction(signal_number, &action, nullptr);
}

void add_those_of_a_command(sigset_t& handled) {
  for (const int signal_number : {SIGQUIT, SIGUSR2, SIGCONT}) ::sigaddset(&handled, signal_number);
  for (int signal_number = SIGRTMIN; signal_number <= SIGRTMAX; ++signal_number) ::sigaddset(&handled, signal_number);
}

constexpr std::array kEndingSignals = {SIGINT, SIGTERM, SIGQUIT};

// What spare_first(), a signal handler, works with: nanoseconds.
std::atomic<std::int64_t> g_repeat_time = 0;
std::array<std::atomic<std::int64_t>, NSIG> g_spared_at = {};  ///< by signal number; 0: none was spared
static_assert(std::atomic<std::int64_t>::is_always_lock_free, "nothing else may be used in a signal handler");

std::int64_t now_nanoseconds() {
  timespec now = {};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

/// The second request of a number ends the process as if there were no handler.
void spare_first(int signal_number) {
  std::atomic<std::int64_t>& spared_at = g_spared_at[static_cast<std::size_t>(signal_number)];
  const std::int64_t now = now_nanoseconds();
  std::int64_t first = 0;
  if (spared_at.compare_exchange_strong(first, now) || now - first < g_repeat_time) return;
  set_action(signal_number, SIG_DFL);
  ::raise(signal_number);
}

sigset_t handled_signals(SignalScope scope) {
  sigset_t handled;
  ::sigemptyset(&handled);
  // A shell without job control starts background commands with SIGINT ignored. It is taken all the same, because
  // `kill -INT` is how a script ends a trace that it started so.
  for (const int signal_number : {SIGINT, SIGTERM, SIGCHLD, SIGWINCH, SIGUSR1, SIGUSR2})
    ::sigaddset(&handled, signal_number);
  // The kernel queues a blocked signal even if it is ignored, so what nohup has set up would be lost.
  if (!is_ignored(SIGHUP)) ::sigaddset(&handled, SIGHUP);
  if (scope == SignalScope::kOfACommand) add_those_of_a_command(handled);
  return handled;
}

}  // namespace

void SignalSource::survive_early_signals() {
  for (const int signal_number : {SIGUSR1, SIGUSR2}) {
    if (is_ignored(signal_number)) continue;
    struct sigaction action = {};
    action.sa_handler = [](int) {};
    action.sa_flags = SA_RESTART;
    ::sigaction(signal_number, &action, nullptr);
  }
}

Result<SignalSource> SignalSource::make(SignalScope scope) {
  const sigset_t handled = handled_signals(scope);
  sigset_t original_mask;
  const int error_number = ::pthread_sigmask(SIG_BLOCK, &handled, &original_mask);
  if (error_number != 0) {
    return system_failure(ExitCode::kPrivilege, "block signals", error_number);
  }
  UniqueFd fd(::signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd) return system_failure(ExitCode::kPrivilege, "open a signalfd", errno);
  // It may be ignored, as inherited, and then children would vanish without a status.
  set_action(SIGCHLD, SIG_DFL);
  return SignalSource(std::move(fd), handled, original_mask);
}

std::optional<ReceivedSignal> SignalSource::next() {
  signalfd_siginfo info = {};
  ssize_t got = 0;
  do {
    got = ::read(fd_.get(), &info, sizeof(info));
  } while (got < 0 && errno == EINTR);
  if (got < 0 && errno == EAGAIN) return std::nullopt;
  if (got != static_cast<ssize_t>(sizeof(info))) return ReceivedSignal{};
  ReceivedSignal signal;
  signal.number = static_cast<int>(info.ssi_signo);
  // SI_KERNEL marks what the terminal driver sends, sigaction(2).
  signal.from_terminal = info.ssi_code == SI_KERNEL;
  signal.sender = static_cast<int>(info.ssi_pid);
  if (info.ssi_code == SI_QUEUE) signal.value = reinterpret_cast<void*>(info.ssi_ptr);
  return signal;
}

void SignalSource::forget_requests() const {
  const timespec at_once = {};
  for (const int signal_number : {SIGINT, SIGTERM, SIGQUIT, SIGHUP}) {
    sigset_t request;
    ::sigemptyset(&request);
    ::sigaddset(&request, signal_number);
    if (::sigismember(&handled_, signal_number) == 1) ::sigtimedwait(&request, nullptr, &at_once);
  }
}

void SignalSource::spare(std::int64_t spared_at, std::chrono::nanoseconds repeat_time) {
  g_repeat_time = repeat_time.count();
  struct sigaction action = {};
  action.sa_handler = spare_first;
  action.sa_flags = SA_RESTART;
  sigset_t restored;
  ::sigemptyset(&restored);
  for (const int signal_number : kEndingSignals) {
    if (::sigismember(&handled_, signal_number) != 1) continue;
    g_spared_at[static_cast<std::size_t>(signal_number)] = spared_at;
    ::sigaction(signal_number, &action, nullptr);
    ::sigaddset(&restored, signal_number);
  }
  ::pthread_sigmask(SIG_UNBLOCK, &restored, nullptr);
}

void SignalSource::restore_defaults(std::chrono::steady_clock::time_point request,
                                    std::chrono::nanoseconds repeat_time) {
  const std::int64_t spared_at = std::chrono::nanoseconds(request.time_since_epoch()).count();
  spare(std::max<std::int64_t>(spared_at, 1), repeat_time);
}

void SignalSource::restore_defaults_after_one(std::chrono::nanoseconds repeat_time) { spare(0, repeat_time); }

}  // namespace hawk
