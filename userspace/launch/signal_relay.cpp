#include "userspace/launch/signal_relay.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace hawk {
namespace {

/// Signals that request termination.
bool is_ending(int number) { return number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT; }

/// The kernel alone says where a signal comes from, except that it was queued with a value.
void pass_on(int pid_fd, const ReceivedSignal& signal) {
  siginfo_t info = {};
  info.si_signo = signal.number;
  info.si_code = SI_QUEUE;
  info.si_pid = ::getpid();
  info.si_uid = ::getuid();
  if (signal.value) info.si_value.sival_ptr = *signal.value;
  ::syscall(SYS_pidfd_send_signal, pid_fd, signal.number, signal.value ? &info : nullptr, 0);
}

}  // namespace

SignalRelay::Action SignalRelay::take(const ReceivedSignal& signal) {
  if (signal.number == SIGCHLD) return Action::kNothing;
  if (interrupted_ && is_ending(signal.number)) return Action::kEnd;
  if (signal.from_terminal) {
    if (!is_ending(signal.number)) return Action::kNothing;
    interrupted_ = true;
    return Action::kSayToWait;
  }
  // What the command sends to its whole process group it has got itself.
  if (signal.sender != pid_) pass_on(pid_fd_, signal);
  return Action::kNothing;
}

}  // namespace hawk
