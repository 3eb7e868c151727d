#pragma once

/// Runs code up to any of its instructions, something else then, and the rest: all places at which a thread can be
/// interrupted, one after the other.

#include <signal.h>
#include <ucontext.h>
#include <x86intrin.h>

#include <functional>

namespace hawk {

class Interrupted {
 public:
  /// Runs `action`, and `other`, which must be safe in a signal handler, before the instruction with this number.
  /// False: `action` had ended by then, and `other` has not been run. By the processor's single-step mode (SIGTRAP
  /// after every instruction).
  static bool run(unsigned long instruction, const std::function<void()>& action, const std::function<void()>& other) {
    struct sigaction handler = {}, before = {};
    handler.sa_sigaction = step;
    handler.sa_flags = SA_SIGINFO;
    ::sigaction(SIGTRAP, &handler, &before);
    left_ = instruction;
    other_ = &other;
    set_single_step();
    action();
    clear_single_step();
    ::sigaction(SIGTRAP, &before, nullptr);
    return other_ == nullptr;
  }

  /// How many instructions `action` has.
  static unsigned long count(const std::function<void()>& action) {
    constexpr unsigned long kNever = ~0UL;
    run(kNever, action, [] {});
    return kNever - left_;
  }

 private:
  static constexpr unsigned long long kTrapFlag = 0x100;

  static void set_single_step() { __writeeflags(__readeflags() | kTrapFlag); }
  static void clear_single_step() { __writeeflags(__readeflags() & ~kTrapFlag); }

  static void step(int, siginfo_t*, void* context) {
    if (other_ == nullptr || left_-- > 0) return;
    const std::function<void()>* other = other_;
    other_ = nullptr;
    static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] &= ~static_cast<greg_t>(kTrapFlag);
    (*other)();
  }

  static inline unsigned long left_ = 0;
  static inline const std::function<void()>* other_ = nullptr;
};

}  // namespace hawk
