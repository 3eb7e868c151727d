#pragma once

/// Runs code up to any of its reads of some memory, something else then, and the rest: all instants at which what is
/// read there can change, one after the other. What a walk through all instructions would find (interrupted.h), with as
/// many stops as there are reads.

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cstddef>
#include <functional>

#include "userspace/base/check.h"

namespace hawk {

class InterruptedAtRead {
 public:
  /// Whole pages, which `action` reads and `other` does not.
  struct Pages {
    const void* data;
    std::size_t bytes;
  };

  /// Runs `action`, and `other`, which must be safe in a signal handler, before the read with this number. False:
  /// `action` had made fewer reads, and `other` has not been run.
  static bool run(Pages pages, unsigned long read, const std::function<void()>& action,
                  const std::function<void()>& other) {
    struct sigaction fault = {}, step = {}, fault_before = {}, step_before = {};
    fault.sa_sigaction = on_fault;
    step.sa_sigaction = on_step;
    fault.sa_flags = step.sa_flags = SA_SIGINFO;
    ::sigaction(SIGSEGV, &fault, &fault_before);
    ::sigaction(SIGTRAP, &step, &step_before);
    pages_ = pages;
    left_ = read;
    other_ = &other;
    protect(PROT_NONE);
    action();
    protect(PROT_READ);
    ::sigaction(SIGTRAP, &step_before, nullptr);
    ::sigaction(SIGSEGV, &fault_before, nullptr);
    return other_ == nullptr;
  }

 private:
  static constexpr greg_t kTrapFlag = 0x100;

  static void protect(int protection) {
    HAWK_CHECK(::mprotect(const_cast<void*>(pages_.data), pages_.bytes, protection) == 0, "mprotect");
  }

  /// The read is made again after this, with the pages open: for one instruction, or for good.
  static void on_fault(int, siginfo_t* info, void* context) {
    const std::size_t offset =
        static_cast<std::size_t>(static_cast<const char*>(info->si_addr) - static_cast<const char*>(pages_.data));
    HAWK_CHECK(offset < pages_.bytes, "a fault elsewhere");
    protect(PROT_READ);
    if (left_-- > 0) {
      static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] |= kTrapFlag;
      return;
    }
    const std::function<void()>* other = other_;
    other_ = nullptr;
    (*other)();
  }

  static void on_step(int, siginfo_t*, void* context) {
    static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] &= ~kTrapFlag;
    protect(PROT_NONE);
  }

  static inline Pages pages_ = {};
  static inline unsigned long left_ = 0;
  static inline const std::function<void()>* other_ = nullptr;
};

}  // namespace hawk
