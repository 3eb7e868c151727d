#include "userspace/launch/command_end.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <optional>

#include "userspace/base/log.h"

namespace hawk {
namespace {

/// For a command that has something to put away.
constexpr std::chrono::milliseconds kPatience{5000};

bool has_ended(int pid_fd, std::chrono::milliseconds wait) {
  pollfd event = {.fd = pid_fd, .events = POLLIN, .revents = 0};
  return TEMP_FAILURE_RETRY(::poll(&event, 1, static_cast<int>(wait.count()))) > 0;
}

int status_of(int pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return 0;
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void end_process(int pid_fd) {
  ::syscall(SYS_pidfd_send_signal, pid_fd, SIGTERM, nullptr, 0);
  ::syscall(SYS_pidfd_send_signal, pid_fd, SIGCONT, nullptr, 0);
  if (!has_ended(pid_fd, kPatience)) ::syscall(SYS_pidfd_send_signal, pid_fd, SIGKILL, nullptr, 0);
}

}  // namespace

int finish_command(LaunchedCommand& command, int pid_fd, bool kill, SignalSource& signals, SignalRelay& relay) {
  while (const std::optional<ReceivedSignal> signal = signals.next()) {
    if (signal->number == 0) break;
    relay.take(*signal);
  }
  const int pid = command.disown();
  if (has_ended(pid_fd, std::chrono::milliseconds{})) return status_of(pid);
  if (!kill) {
    log_info(fmt::format("the command is still running, as process {}", pid));
    return 0;
  }
  end_process(pid_fd);
  status_of(pid);
  return 0;
}

}  // namespace hawk
