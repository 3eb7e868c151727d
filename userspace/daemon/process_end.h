#pragma once

#include <optional>
#include <string>

namespace hawk {

/// How a process has ended.
struct ProcessEnd {
  std::optional<int> wait_status;  ///< as of waitpid(2); nullopt: the kernel does not say any more
  bool oom_killed = false;         ///< by the kernel, for lack of memory

  /// Whether it has ended by a fault, as far as is known: by a signal that is sent for one, or by the kernel.
  bool is_crash() const;
  bool operator==(const ProcessEnd&) const = default;
};

/// "exited with status 1", "was killed by SIGSEGV", "was killed for lack of memory", "ended".
std::string text_of(const ProcessEnd& end);

/// The wait status of a process that has ended, of which we are not the parent: as long as it is a zombie from its
/// /proc/PID/stat; after that from its pidfd (Linux 6.15). nullopt: neither says.
std::optional<int> read_wait_status(int pid, int pid_fd);

/// The field exit_code of the /proc/PID/stat of a zombie; nullopt: it is none.
std::optional<int> wait_status_in_stat(const std::string& stat);

}  // namespace hawk
