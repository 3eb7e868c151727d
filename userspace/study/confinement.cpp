#include "userspace/study/confinement.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <grp.h>
#include <linux/capability.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <initializer_list>
#include <memory>

#include "userspace/base/open_file_limit.h"
#include "userspace/base/owned.h"

namespace hawk {
namespace {

using Filter = std::unique_ptr<void, Freer<seccomp_release>>;

/// "nobody", on every distribution; the kernel's own number for users that it cannot name.
constexpr uid_t kNobody = 65534;

/// Ends an endless loop if the parent has disappeared together with the socket.
constexpr rlimit kProcessorSeconds = {.rlim_cur = 600, .rlim_max = 600};

std::string failure(const char* what, int error) { return fmt::format("{}: {}", what, std::strerror(error)); }

/// Nothing is written to files, and no core is dumped, which would contain data of the files. A worker that reads the
/// symbols may have been started before its parent had raised its own limit of open files.
void limit_resources() {
  raise_open_file_limit(kOpenFilesOfAProcess);
  const rlimit none = {.rlim_cur = 0, .rlim_max = 0};
  ::setrlimit(RLIMIT_FSIZE, &none);
  ::setrlimit(RLIMIT_CORE, &none);
  ::setrlimit(RLIMIT_CPU, &kProcessorSeconds);
}

/// No path leads to a file from here on: what looks at files without opening them (stat) finds none. Fails without the
/// right to it, as in some containers.
void leave_the_file_system() {
  if (::chroot("/proc/self/fdinfo") != 0 || ::chdir("/") != 0) return;
}

/// Fails if this process may not change its user, as in a user namespace with a single one: there it already has that
/// user, or has no rights to lose; capabilities are dropped in any case.
void become_nobody() {
  if (::setgroups(0, nullptr) != 0 || ::setresgid(kNobody, kNobody, kNobody) != 0) return;
  if (::setresuid(kNobody, kNobody, kNobody) != 0) return;
}

std::string drop_capabilities() {
  for (int capability = 0; ::prctl(PR_CAPBSET_READ, capability) >= 0; ++capability) {
    ::prctl(PR_CAPBSET_DROP, capability);
  }
  become_nobody();
  __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  const __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};
  if (::syscall(SYS_capset, &header, none) != 0) return failure("drop its capabilities", errno);
  return {};
}

/// Whatever its arguments.
int allow(scmp_filter_ctx filter, std::initializer_list<int> calls) {
  int error = 0;
  for (const int call : calls) error = error != 0 ? error : seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 0);
  return error;
}

/// If argument `number` is `value`.
int allow_with(scmp_filter_ctx filter, int call, unsigned number, std::uint64_t value) {
  const scmp_arg_cmp same = {.arg = number, .op = SCMP_CMP_EQ, .datum_a = value, .datum_b = 0};
  return seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1, same);
}

/// If none of `bits` is set in argument `number`.
int allow_without(scmp_filter_ctx filter, int call, unsigned number, std::uint64_t bits) {
  const scmp_arg_cmp clear = {.arg = number, .op = SCMP_CMP_MASKED_EQ, .datum_a = bits, .datum_b = 0};
  return seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1, clear);
}

/// Libraries that try to open a file continue without it.
int refuse(scmp_filter_ctx filter, std::initializer_list<int> calls) {
  int error = 0;
  for (const int call : calls) error = error != 0 ? error : seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), call, 0);
  return error;
}

std::string filter_calls() {
  const Filter filter(seccomp_init(SCMP_ACT_KILL_PROCESS));
  if (!filter) return "no memory for its system call filter";
  int error = allow(filter.get(),
                    {SCMP_SYS(read),         SCMP_SYS(pread64),        SCMP_SYS(readv),       SCMP_SYS(preadv),
                     SCMP_SYS(recvmsg),      SCMP_SYS(sendmsg),        SCMP_SYS(poll),        SCMP_SYS(ppoll),
                     SCMP_SYS(close),        SCMP_SYS(fstat),          SCMP_SYS(newfstatat),  SCMP_SYS(lseek),
                     SCMP_SYS(munmap),       SCMP_SYS(mremap),         SCMP_SYS(brk),         SCMP_SYS(madvise),
                     SCMP_SYS(futex),        SCMP_SYS(exit),           SCMP_SYS(exit_group),  SCMP_SYS(rt_sigreturn),
                     SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask), SCMP_SYS(getrandom),   SCMP_SYS(clock_gettime),
                     SCMP_SYS(gettimeofday), SCMP_SYS(sysinfo),        SCMP_SYS(sched_yield), SCMP_SYS(getpid),
                     SCMP_SYS(gettid),       SCMP_SYS(restart_syscall)});
  if (error == 0) error = allow_without(filter.get(), SCMP_SYS(mmap), 2, PROT_EXEC);
  if (error == 0) error = allow_without(filter.get(), SCMP_SYS(mprotect), 2, PROT_EXEC);
  // Not those that have the kernel send signals, F_SETOWN and F_SETSIG: others may run as the same user.
  for (const int command : {F_GETFD, F_SETFD, F_GETFL, F_DUPFD, F_DUPFD_CLOEXEC}) {
    if (error == 0) error = allow_with(filter.get(), SCMP_SYS(fcntl), 1, static_cast<std::uint64_t>(command));
  }
  // Of its own limits only.
  if (error == 0) error = allow_without(filter.get(), SCMP_SYS(prlimit64), 0, ~std::uint64_t{0});
  if (error == 0) {
    error = refuse(filter.get(), {SCMP_SYS(open), SCMP_SYS(openat), SCMP_SYS(openat2), SCMP_SYS(creat),
                                  SCMP_SYS(access), SCMP_SYS(faccessat), SCMP_SYS(faccessat2), SCMP_SYS(stat),
                                  SCMP_SYS(lstat), SCMP_SYS(readlink), SCMP_SYS(readlinkat), SCMP_SYS(getcwd)});
  }
  if (error == 0) error = seccomp_load(filter.get());
  return error == 0 ? std::string() : failure("filter its system calls", -error);
}

}  // namespace

std::string confine_this_process() {
  limit_resources();
  leave_the_file_system();
  std::string error = drop_capabilities();
  if (!error.empty()) return error;
  // After the change of user, which clears both.
  ::prctl(PR_SET_DUMPABLE, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return failure("give up new privileges", errno);
  return filter_calls();
}

}  // namespace hawk
