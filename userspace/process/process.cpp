#include "userspace/process/process.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <optional>
#include <string_view>
#include <vector>

#include "userspace/base/cgroup_membership.h"
#include "userspace/base/process_file.h"
#include "userspace/base/regular_file.h"
#include "userspace/base/system_failure.h"
#include "userspace/elf/elf_header.h"
#include "userspace/process/process_fields.h"
#include "userspace/process/thread_ids.h"

namespace hawk {
namespace {

/// PF_KTHREAD of include/linux/sched.h, as shown in field 9 of /proc/PID/stat; the same value since Linux 2.6.
constexpr std::uint64_t kKernelThreadFlag = 0x00200000;
/// PF_SIGNALED, there.
constexpr std::uint64_t kKilledFlag = 0x00000400;

int status_number(std::string_view status, std::string_view name) {
  return leading_number<int>(status_field(status, name)).value_or(0);
}

bool is_dead(std::string_view status) {
  const std::string_view state = status_field(status, "State");
  return state.starts_with('Z') || state.starts_with('X');
}

std::uint64_t task_flags(std::string_view stat) {
  constexpr int kFlags = 9;
  return leading_number<std::uint64_t>(stat_from_field(stat, kFlags)).value_or(0);
}

std::optional<int> find_living_thread(const std::string& directory, int pid) {
  for (const int tid : thread_ids(directory)) {
    if (tid == pid) continue;
    const Result<std::string> status = read_whole_file(fmt::format("{}/task/{}/status", directory, tid));
    if (status && !is_dead(*status)) return tid;
  }
  return std::nullopt;
}

tl::unexpected<Error> fail_to_look(int pid, const std::string& file, int error) {
  if (error == EACCES || error == EPERM) {
    return fail(ExitCode::kPrivilege, fmt::format("inspect process {}: {}: {}", pid, file, std::strerror(error)),
                ::geteuid() == 0
                    ? "root is not permitted to do so here: a security module (SELinux, AppArmor), a user namespace or "
                      "the way /proc is mounted forbids it"
                    : "run hawktrace as root: sudo hawktrace ...");
  }
  return system_failure(ExitCode::kNoTarget, fmt::format("inspect process {}: {}", pid, file), error,
                        "the process may have exited just now");
}

Result<std::string> read_exe_link(int pid, const std::string& link) {
  std::array<char, 4096> path;
  const ssize_t length = ::readlink(link.c_str(), path.data(), path.size());
  if (length < 0) return fail_to_look(pid, link, errno);
  std::string exe(path.data(), static_cast<std::size_t>(length));
  constexpr std::string_view kDeleted = " (deleted)";
  if (exe.ends_with(kDeleted)) exe.resize(exe.size() - kDeleted.size());
  return exe;
}

Result<void> require_64_bit(int pid, const std::string& link, const std::string& exe) {
  const UniqueFd fd = open_regular_file(link);
  if (!fd) return fail_to_look(pid, link, errno);
  std::array<std::uint8_t, sizeof(Elf64_Ehdr)> head = {};
  if (TEMP_FAILURE_RETRY(::pread(fd.get(), head.data(), head.size(), 0)) < 0) return fail_to_look(pid, link, errno);
  if (is_32_bit_elf(head)) {
    return fail(ExitCode::kPrivilege, fmt::format("inspect process {}: {} is a 32-bit program", pid, exe),
                "hawktrace traces 64-bit x86-64 programs only");
  }
  return {};
}

Result<std::string> read_status(int pid, const std::string& directory) {
  Result<std::string> status = read_whole_file(directory + "/status", ExitCode::kNoTarget);
  if (status || status.error().exit_code != ExitCode::kNoTarget) return status;
  if (::access(directory.c_str(), F_OK) == 0 && ::access((directory + "/status").c_str(), R_OK) != 0 &&
      errno == EACCES) {
    return fail_to_look(pid, directory, EACCES);
  }
  return fail(ExitCode::kNoTarget, fmt::format("inspect process {}: no such process", pid),
              "list processes with: ps -e");
}

/// As it is: in "status" the kernel escapes it.
std::string read_comm(const std::string& directory) {
  std::string comm = read_whole_file(directory + "/comm", ExitCode::kNoTarget).value_or("");
  if (comm.ends_with('\n')) comm.pop_back();
  return comm;
}

Result<void> require_process(int pid, const std::string& directory, const std::string& status) {
  const int tgid = status_number(status, "Tgid");
  if (tgid != pid) {
    return fail(ExitCode::kNoTarget, fmt::format("inspect process {}: it is a thread of process {}", pid, tgid),
                fmt::format("trace the whole process: -p {}", tgid));
  }
  const Result<std::string> stat = read_whole_file(directory + "/stat", ExitCode::kNoTarget);
  if (stat && (task_flags(*stat) & kKernelThreadFlag) != 0) {
    return fail(ExitCode::kPrivilege, fmt::format("inspect process {}: it is a kernel thread", pid),
                "kernel threads have no heap of their own; choose a user-space process");
  }
  return {};
}

}  // namespace

ProcessHandle::ProcessHandle(int pid)
    : pid_(pid), fd_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))), error_(fd_ ? 0 : errno) {}

Result<void> ProcessHandle::require_same() const {
  if (fd_ && ::syscall(SYS_pidfd_send_signal, fd_.get(), 0, nullptr, 0) == 0) return {};
  return system_failure(ExitCode::kNoTarget, fmt::format("watch process {}", pid_), fd_ ? errno : error_,
                        "the process may have exited just now");
}

std::optional<PtraceInfo> find_ptracer(int pid) {
  const std::string directory = fmt::format("/proc/{}", pid);
  for (const int tid : thread_ids(directory)) {
    const Result<std::string> status = read_whole_file(fmt::format("{}/task/{}/status", directory, tid));
    const int tracer = status ? status_number(*status, "TracerPid") : 0;
    if (tracer != 0) return PtraceInfo{.pid = tracer, .comm = read_comm(fmt::format("/proc/{}", tracer))};
  }
  return std::nullopt;
}

/// The signal is taken from those that are pending right before the flags say so.
bool is_being_killed(int tid) {
  const std::string directory = fmt::format("/proc/{}", tid);
  const Result<std::string> status = read_whole_file(directory + "/status"),
                            stat = read_whole_file(directory + "/stat");
  if (!status || !stat) return false;
  std::uint64_t pending = 0;
  const std::string_view field = status_field(*status, "SigPnd");
  std::from_chars(field.data(), field.data() + field.size(), pending, 16);
  return (pending >> (SIGKILL - 1) & 1) != 0 || (task_flags(*stat) & kKilledFlag) != 0;
}

std::string read_cgroup(int pid, const std::string& proc_root) {
  const Result<std::string> text = read_whole_file(fmt::format("{}/{}/cgroup", proc_root, pid));
  return telling_cgroup(parse_cgroups(text.value_or("")));
}

Result<ProcessInfo> inspect_process(int pid, const std::string& proc_root) {
  const std::string directory = fmt::format("{}/{}", proc_root, pid);
  const std::string status = HAWK_TRY(read_status(pid, directory));
  HAWK_TRY_VOID(require_process(pid, directory, status));

  ProcessInfo info;
  info.pid = pid;
  info.living_tid = pid;
  info.comm = read_comm(directory);
  info.cgroup = read_cgroup(pid, proc_root);
  info.thread_count = status_number(status, "Threads");
  info.seccomp_mode = status_number(status, "Seccomp");
  std::string task_directory = directory;
  if (is_dead(status)) {
    const std::optional<int> tid = find_living_thread(directory, pid);
    if (!tid) {
      return fail(ExitCode::kNoTarget, fmt::format("inspect process {}: it has exited (zombie)", pid),
                  "its parent has not reaped it yet; there is no memory left to trace");
    }
    info.main_thread_exited = true;
    info.living_tid = *tid;
    task_directory = fmt::format("{}/task/{}", directory, *tid);
  }
  const std::string link = task_directory + "/exe";
  info.exe = HAWK_TRY(read_exe_link(pid, link));
  HAWK_TRY_VOID(require_64_bit(pid, link, info.exe));
  return info;
}

}  // namespace hawk
