// Gives up its rights as a worker of hawktrace's does, and then tries what its argument says. Exit status: 0 the call
// failed, 1 it did what it should not have, 2 the confinement failed, 3 there is no such thing to try.
#include <fcntl.h>
#include <linux/bpf.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <new>
#include <string>

#include "symbolizer/memory_budget.h"
#include "userspace/study/confinement.h"

namespace {

constexpr std::size_t kBudgetBytes = std::size_t{64} << 20;

bool runs_a_program() {
  char name[] = "/bin/true";
  char* arguments[] = {name, nullptr};
  ::execv(name, arguments);
  return false;
}

/// Whether it got ten times what it may have.
bool allocates_without_end() {
  try {
    for (std::size_t bytes = 0; bytes < 10 * kBudgetBytes; bytes += 1 << 20) {
      char* block = new char[1 << 20];
      for (std::size_t page = 0; page < 1 << 20; page += 4096) static_cast<volatile char*>(block)[page] = 1;
    }
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}

bool maps_without_end() {
  const std::size_t bytes = 10 * kBudgetBytes;
  return ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
}

bool raises_its_limits() {
  const rlimit all = {.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
  return ::setrlimit(RLIMIT_FSIZE, &all) == 0;
}

bool makes_code() {
  void* page = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return ::mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0;
}

const std::map<std::string, bool (*)()> kActions = {
    {"nothing", [] { return false; }},
    {"open", [] { return ::open("/etc/passwd", O_RDONLY) >= 0; }},
    {"create", [] { return ::open("/tmp/hawktrace-confined", O_CREAT | O_WRONLY, 0600) >= 0; }},
    {"look_at_a_file",
     [] {
       struct stat status = {};
       return ::stat("/etc/passwd", &status) == 0;
     }},
    {"signal_by_a_descriptor", [] { return ::fcntl(STDIN_FILENO, F_SETOWN, ::getppid()) == 0; }},
    {"choose_a_signal", [] { return ::fcntl(STDIN_FILENO, F_SETSIG, SIGKILL) == 0; }},
    {"lock_a_file",
     [] {
       struct flock all = {};
       all.l_type = F_RDLCK;
       return ::fcntl(STDIN_FILENO, F_OFD_SETLK, &all) == 0;
     }},
    {"open_below_a_descriptor", [] { return ::openat(STDIN_FILENO, "x", O_RDONLY) >= 0; }},
    {"socket", [] { return ::socket(AF_INET, SOCK_STREAM, 0) >= 0; }},
    {"netlink", [] { return ::socket(AF_NETLINK, SOCK_RAW, 0) >= 0; }},
    {"ptrace", [] { return ::ptrace(PTRACE_ATTACH, ::getppid(), nullptr, nullptr) == 0; }},
    {"read_memory", [] { return ::syscall(SYS_process_vm_readv, ::getppid(), nullptr, 0, nullptr, 0, 0) == 0; }},
    {"exec", runs_a_program},
    {"fork", [] { return ::fork() >= 0; }},
    {"clone", [] { return ::syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr) >= 0; }},
    {"kill", [] { return ::kill(::getppid(), 0) == 0; }},
    {"bpf", [] { return ::syscall(SYS_bpf, BPF_PROG_GET_NEXT_ID, nullptr, 0) == 0; }},
    {"perf_event", [] { return ::syscall(SYS_perf_event_open, nullptr, 0, -1, -1, 0) >= 0; }},
    {"io_uring", [] { return ::syscall(SYS_io_uring_setup, 1, nullptr) >= 0; }},
    {"user_namespace", [] { return ::syscall(SYS_unshare, 0x10000000 /* CLONE_NEWUSER */) == 0; }},
    {"become_root", [] { return ::setuid(0) == 0; }},
    {"limits_of_others", [] { return ::prlimit(::getppid(), RLIMIT_NOFILE, nullptr, nullptr) == 0; }},
    {"raise_its_limits", raises_its_limits},
    {"map_code",
     [] { return ::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED; }},
    {"make_code", makes_code},
    {"allocate_without_end", allocates_without_end},
    {"map_without_end", maps_without_end},
    {"chmod", [] { return ::fchmod(STDIN_FILENO, 0777) == 0; }},
    {"unlink", [] { return ::unlink("/tmp/hawktrace-confined") == 0; }},
    {"mount", [] { return ::syscall(SYS_mount, "none", "/", "tmpfs", 0, nullptr) == 0; }},
};

}  // namespace

int main(int argc, char** argv) {
  const auto action = kActions.find(argc > 1 ? argv[1] : "");
  if (action == kActions.end()) return 3;
  const hawk::MemoryBudget budget(kBudgetBytes);
  if (!hawk::confine_this_process().empty()) return 2;
  ::_exit(action->second() ? 1 : 0);
}
