#include "userspace/daemon/process_end.h"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdint>
#include <cstring>

#include "userspace/base/process_file.h"
#include "userspace/process/process_fields.h"

namespace hawk {
namespace {

/// The beginning of struct pidfd_info as of Linux 6.15, which headers do not have yet (include/uapi/linux/pidfd.h).
struct PidfdInfo {
  std::uint64_t mask;
  std::uint64_t cgroupid;
  std::uint32_t ids[11];  // pid, tgid, ppid; user and group ids
  std::int32_t exit_code;
};
constexpr std::uint64_t kExitInfo = 1U << 3U;                                                  // PIDFD_INFO_EXIT
constexpr unsigned long kGetInfo = _IOC(_IOC_READ | _IOC_WRITE, 0xFF, 11, sizeof(PidfdInfo));  // PIDFD_GET_INFO

std::optional<int> wait_status_of(int pid_fd) {
  PidfdInfo info = {};
  info.mask = kExitInfo;
  if (::ioctl(pid_fd, kGetInfo, &info) != 0 || (info.mask & kExitInfo) == 0) return std::nullopt;
  return info.exit_code;
}

/// Whether the number is still the process's: it has not been collected by its parent.
bool has_number(int pid_fd) {
  const Result<std::string> info = read_whole_file(fmt::format("/proc/self/fdinfo/{}", pid_fd));
  return info && leading_number<int>(status_field(*info, "Pid")).value_or(-1) > 0;
}

}  // namespace

bool ProcessEnd::is_crash() const {
  if (oom_killed) return true;
  if (!wait_status || !WIFSIGNALED(*wait_status)) return false;
  const int signal = WTERMSIG(*wait_status);
  return signal != SIGTERM && signal != SIGINT && signal != SIGHUP && signal != SIGPIPE;
}

std::string text_of(const ProcessEnd& end) {
  if (end.oom_killed) return "was killed for lack of memory";
  if (!end.wait_status) return "ended";
  if (WIFEXITED(*end.wait_status)) return fmt::format("exited with status {}", WEXITSTATUS(*end.wait_status));
  const int signal = WTERMSIG(*end.wait_status);
  const char* const name = ::sigabbrev_np(signal);
  const std::string named = name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
  return fmt::format("was killed by {}{}", named, WCOREDUMP(*end.wait_status) ? ", core dumped" : "");
}

std::optional<int> wait_status_in_stat(const std::string& stat) {
  constexpr int kState = 3;
  constexpr int kExitCode = 52;
  const std::string_view state = stat_from_field(stat, kState);
  if (!state.starts_with('Z')) return std::nullopt;
  return leading_number<int>(stat_from_field(stat, kExitCode));
}

std::optional<int> read_wait_status(int pid, int pid_fd) {
  const Result<std::string> stat = read_whole_file(fmt::format("/proc/{}/stat", pid));
  if (stat && has_number(pid_fd)) {
    if (const std::optional<int> status = wait_status_in_stat(*stat)) return status;
  }
  return wait_status_of(pid_fd);
}

}  // namespace hawk
