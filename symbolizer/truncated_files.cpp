#include "symbolizer/truncated_files.h"

#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <mutex>

namespace hawk {
namespace {

std::uintptr_t page_bytes = 0;

/// BUS_ADRERR: the mapping has no file content any more. In hawktrace only mapped files can raise it.
void put_zeros_there(int /*signal_number*/, siginfo_t* info, void* /*context*/) {
  if (info->si_code == BUS_ADRERR) {
    void* page = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(info->si_addr) & ~(page_bytes - 1));
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
    if (::mmap(page, page_bytes, PROT_READ | PROT_WRITE, flags, -1, 0) != MAP_FAILED) return;
  }
  // It comes again at once, and ends us.
  std::signal(SIGBUS, SIG_DFL);
}

}  // namespace

void survive_truncated_files() {
  static std::once_flag once;
  std::call_once(once, [] {
    page_bytes = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    struct sigaction action = {};
    action.sa_sigaction = put_zeros_there;
    action.sa_flags = SA_SIGINFO;
    ::sigaction(SIGBUS, &action, nullptr);
  });
}

}  // namespace hawk
