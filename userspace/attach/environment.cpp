#include "userspace/attach/environment.h"

#include <fmt/core.h>
#include <fmt/format.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "userspace/base/process_file.h"
#include "userspace/base/system_failure.h"
#include "userspace/base/unique_fd.h"

namespace hawk {
namespace {

constexpr const char* kKernelTypes = "/sys/kernel/btf/vmlinux";

Result<void> check_kernel_types() {
  if (::access(kKernelTypes, R_OK) == 0) return {};
  return fail(ExitCode::kPrivilege,
              fmt::format("read the kernel's types from {}: {}", kKernelTypes, std::strerror(errno)),
              "hawktrace needs a kernel built with CONFIG_DEBUG_INFO_BTF=y, as distributions build theirs, and sysfs "
              "mounted on /sys");
}

/// Creates and drops a tiny map of a type that only CAP_BPF may create (kernel/bpf/syscall.c: map_create), whatever
/// kernel.unprivileged_bpf_disabled says.
Result<void> check_bpf_syscall() {
  bpf_attr attributes = {};
  attributes.map_type = BPF_MAP_TYPE_LPM_TRIE;
  attributes.key_size = 8;  // a prefix length and four bytes
  attributes.value_size = 4;
  attributes.max_entries = 1;
  attributes.map_flags = BPF_F_NO_PREALLOC;
  UniqueFd map(static_cast<int>(::syscall(SYS_bpf, BPF_MAP_CREATE, &attributes, sizeof(attributes))));
  if (!map) return tl::unexpected<Error>(bpf_failure(errno));
  return {};
}

bool has_capability(std::uint64_t mask, int capability) { return (mask >> capability & 1) != 0; }

/// The third number of a release: 14 for "6.12.14-amd64", 0 without one.
unsigned patch_level(std::string_view release) {
  const std::size_t second_dot = release.find('.', release.find('.') + 1);
  unsigned level = 0;
  if (second_dot == std::string_view::npos) return level;
  std::from_chars(release.data() + second_dot + 1, release.data() + release.size(), level);
  return level;
}

}  // namespace

Result<void> check_environment() {
  utsname system = {};
  if (::uname(&system) != 0) return system_failure(ExitCode::kPrivilege, "uname", errno);
  HAWK_TRY_VOID(check_kernel_version(system.release));
  const std::string status = HAWK_TRY(read_whole_file("/proc/self/status", ExitCode::kPrivilege));
  HAWK_TRY_VOID(check_capabilities(status, ::geteuid() == 0));
  HAWK_TRY_VOID(check_kernel_types());
  return check_bpf_syscall();
}

std::string kernel_release() {
  utsname names;
  return ::uname(&names) == 0 ? names.release : "";
}

Result<KernelVersion> parse_kernel_version(std::string_view release) {
  KernelVersion version;
  const char* const end = release.data() + release.size();
  const std::from_chars_result major = std::from_chars(release.data(), end, version.major);
  const bool has_dot = major.ec == std::errc() && major.ptr != end && *major.ptr == '.';
  if (!has_dot || std::from_chars(major.ptr + 1, end, version.minor).ec != std::errc()) {
    return fail(ExitCode::kPrivilege, fmt::format("read the kernel's version: '{}' is not a version", release));
  }
  return version;
}

Result<void> check_kernel_version(std::string_view release) {
  const KernelVersion version = HAWK_TRY(parse_kernel_version(release));
  if (!is_older(version, kMinKernel)) return {};
  return fail(ExitCode::kPrivilege, fmt::format("trace on Linux {}: the kernel is too old", release),
              fmt::format("hawktrace needs Linux {}.{} or newer", kMinKernel.major, kMinKernel.minor));
}

Result<void> check_seccomp(std::string_view release, int seccomp_mode) {
  const KernelVersion version = HAWK_TRY(parse_kernel_version(release));
  if (seccomp_mode == 0 || version.major != 6 || version.minor < 11 || version.minor > 13) return {};
  constexpr std::array<unsigned, 3> kFirstRepaired = {~0U, 14, 3};  // of 6.11, 6.12, 6.13
  if (patch_level(release) >= kFirstRepaired.at(version.minor - 11)) return {};
  return fail(
      ExitCode::kPrivilege,
      fmt::format("trace a process with a seccomp filter on Linux {}: its return probes would kill it", release),
      "use Linux 6.12.14, 6.13.3, 6.14 or newer, or 6.10 or older");
}

bool returns_are_system_calls(std::string_view release) {
  constexpr KernelVersion kFirst{6, 11};
  const Result<KernelVersion> version = parse_kernel_version(release);
  return !version || !is_older(*version, kFirst);
}

Result<std::uint64_t> parse_effective_capabilities(std::string_view status) {
  constexpr std::string_view kField = "CapEff:\t";
  constexpr int kHexadecimal = 16;
  for (std::size_t line = 0; line < status.size();) {
    const std::size_t line_end = std::min(status.find('\n', line), status.size());
    const std::string_view text = status.substr(line, line_end - line);
    line = line_end + 1;
    if (!text.starts_with(kField)) continue;
    std::uint64_t mask = 0;
    const char* const end = text.data() + text.size();
    const std::from_chars_result parsed = std::from_chars(text.data() + kField.size(), end, mask, kHexadecimal);
    if (parsed.ec == std::errc() && parsed.ptr == end) return mask;
    return fail(ExitCode::kPrivilege, fmt::format("read the capabilities of hawktrace: '{}' is not a mask", text));
  }
  return fail(ExitCode::kPrivilege, "read the capabilities of hawktrace: no line CapEff in /proc/self/status",
              "is /proc mounted?");
}

std::vector<std::string> missing_capabilities(std::uint64_t effective) {
  std::vector<std::string> missing;
  const bool is_admin = has_capability(effective, CAP_SYS_ADMIN);
  if (!is_admin && !has_capability(effective, CAP_BPF)) missing.emplace_back("CAP_BPF");
  if (!is_admin && !has_capability(effective, CAP_PERFMON)) missing.emplace_back("CAP_PERFMON");
  if (!has_capability(effective, CAP_SYS_PTRACE)) missing.emplace_back("CAP_SYS_PTRACE");
  // What a process has mapped is opened through /proc/PID/map_files, whatever its name has become.
  if (!is_admin && !has_capability(effective, CAP_CHECKPOINT_RESTORE)) missing.emplace_back("CAP_CHECKPOINT_RESTORE");
  return missing;
}

Result<void> check_capabilities(std::string_view status, bool is_root) {
  const std::vector<std::string> missing = missing_capabilities(HAWK_TRY(parse_effective_capabilities(status)));
  if (missing.empty()) return {};
  return fail(ExitCode::kPrivilege,
              fmt::format("trace other processes: not permitted without {}", fmt::join(missing, ", ")),
              is_root ? "root does not have them here: run the container with --privileged, or with --cap-add for each"
                      : "run it with sudo");
}

Error bpf_failure(int error_number) {
  Error error{ExitCode::kPrivilege, fmt::format("call bpf(2): {}", std::strerror(error_number)), {}};
  if (error_number == ENOSYS) {
    error.hint = "hawktrace needs a kernel built with CONFIG_BPF_SYSCALL=y";
  } else if (error_number == EPERM || error_number == EACCES) {
    error.hint =
        "the capabilities are present, so a user namespace or a seccomp filter forbids it: run hawktrace on the host, "
        "or in a container with --privileged";
  }
  return error;
}

}  // namespace hawk
