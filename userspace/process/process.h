#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "userspace/base/result.h"
#include "userspace/base/unique_fd.h"

namespace hawk {

/// What /proc says of a process before it is traced.
struct ProcessInfo {
  int pid = 0;  ///< thread group id, in our pid namespace
  std::string comm;
  std::string exe;     ///< as the target sees it, without " (deleted)"
  std::string cgroup;  ///< see read_cgroup()
  int thread_count = 0;
  bool main_thread_exited = false;  ///< the leader is a zombie while other threads live
  int seccomp_mode = 0;             ///< 0 off, 1 strict, 2 filter
  /// A thread that lives, for /proc/LIVING_TID/{exe,maps,map_files,root}: those of a leader that has exited are empty.
  int living_tid = 0;
};

/// Holds on to a process by something better than its number, which another process may have after it. To be made
/// before anything is read from /proc/PID, and asked after that.
class ProcessHandle {
 public:
  explicit ProcessHandle(int pid);

  /// Fails unless what has been read since was of this process: it has not been collected by its parent, so that its
  /// number still is its own. kNoTarget.
  Result<void> require_same() const;
  /// A pidfd, which is readable once the process has ended. The handle is of no use after that.
  UniqueFd take_fd() { return std::move(fd_); }

 private:
  int pid_;
  UniqueFd fd_;
  int error_;
};

/// The process that traces a thread by ptrace.
struct PtraceInfo {
  int pid = 0;
  std::string comm;
};
/// nullopt: none, as far as /proc shows.
std::optional<PtraceInfo> find_ptracer(int pid);

/// Whether a thread, given by the number of its directory in /proc, is being killed: it does not come back to its own
/// code. False: not known, or it is gone.
bool is_being_killed(int tid);

/// The cgroup of a process that tells most (telling_cgroup), as seen from our cgroup namespace; empty: not known.
std::string read_cgroup(int pid, const std::string& proc_root = "/proc");

/// Reads /proc/PID. Errors, each with a hint: no such process, a thread id that is no process, a zombie (all
/// kNoTarget); a kernel thread, a 32-bit process, a process we may not look into (kPrivilege). `proc_root` is where
/// tests keep processes that are hard to come by.
Result<ProcessInfo> inspect_process(int pid, const std::string& proc_root = "/proc");

}  // namespace hawk
