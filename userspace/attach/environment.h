#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "userspace/base/result.h"

namespace hawk {

/// Whether tracing is possible on this machine, checked before the target is touched: the kernel's version, hawktrace's
/// capabilities, the kernel's type information, and bpf(2) itself. Fails with kPrivilege and the remedy.
Result<void> check_environment();

/// What uname -r prints; empty: not known.
std::string kernel_release();

/// The part of a kernel release that says which features to expect.
struct KernelVersion {
  unsigned major = 0;
  unsigned minor = 0;
  bool operator==(const KernelVersion&) const = default;
};

constexpr bool is_older(KernelVersion a, KernelVersion b) {
  return a.major != b.major ? a.major < b.major : a.minor < b.minor;
}

/// The oldest kernel hawktrace runs on.
inline constexpr KernelVersion kMinKernel{6, 1};

/// "6.1.0-28-amd64" -> 6.1, "7.0-rc1" -> 7.0. `release` is what uname -r prints.
Result<KernelVersion> parse_kernel_version(std::string_view release);
/// Fails when `release` is older than kMinKernel.
Result<void> check_kernel_version(std::string_view release);

/// Fails if a return probe would kill a process with that seccomp mode (ProcessInfo::seccomp_mode) on kernel `release`.
/// Linux 6.11 made return probes a system call of the traced process, which filters refuse or kill for; 6.14, 6.13.3
/// and 6.12.14 let it pass (commit cf6cb56ef244; systemd issue 34615 is about services that died).
Result<void> check_seccomp(std::string_view release, int seccomp_mode);

/// Whether return probes are system calls of the traced process on kernel `release`: on x86-64 from Linux 6.11 on.
bool returns_are_system_calls(std::string_view release);

/// The effective capabilities, one bit each (linux/capability.h), of a process with that /proc/PID/status.
Result<std::uint64_t> parse_effective_capabilities(std::string_view status);
/// Names of the capabilities that tracing needs and `effective` lacks. CAP_SYS_ADMIN stands for CAP_BPF,
/// CAP_PERFMON and CAP_CHECKPOINT_RESTORE, as it does in the kernel (include/linux/capability.h: bpf_capable,
/// perfmon_capable, checkpoint_restore_ns_capable).
std::vector<std::string> missing_capabilities(std::uint64_t effective);
/// Fails when `status` lacks a capability. `is_root` (effective user id 0) decides the hint: sudo would not help.
Result<void> check_capabilities(std::string_view status, bool is_root);

/// The error for a failure of bpf(2) with `error_number`, in a process with all capabilities.
Error bpf_failure(int error_number);

}  // namespace hawk
