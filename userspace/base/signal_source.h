#pragma once

#include <signal.h>

#include <chrono>
#include <cstdint>
#include <optional>

#include "userspace/base/result.h"
#include "userspace/base/unique_fd.h"

namespace hawk {

/// A signal that was sent to us.
struct ReceivedSignal {
  int number = 0;              ///< 0: signals cannot be read any more
  bool from_terminal = false;  ///< made by a key or a hang-up: all of the foreground has got it, our child too
  int sender = 0;              ///< the process that sent it; 0: the kernel, or one that we cannot see
  std::optional<void*> value = std::nullopt;  ///< of sigqueue(3)
};

/// Whose signals we take.
enum class SignalScope {
  kOurs,        ///< SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGWINCH, SIGUSR1 and SIGUSR2
  kOfACommand,  ///< also those that a command which we run may be sent by our number: SIGQUIT, SIGCONT and the
                ///< real-time signals
};

/// Two signals of one number that arrive within this time are one request: timeout(1) sends a signal to the process,
/// and again to its process group.
constexpr std::chrono::milliseconds kRepeatTime{50};

/// Signals as a readable descriptor instead of handlers, so that one poll() sees everything that can happen. Made once,
/// before any thread is started: threads inherit the mask. SIGHUP is left alone where it was ignored (nohup). A child
/// must be given original_mask() before it calls exec.
class SignalSource {
 public:
  /// To be called first of all: a SIGUSR1 or SIGUSR2 that comes before make() changes nothing, instead of ending us. It
  /// is caught, which exec undoes in a child, not ignored or blocked, which it would inherit.
  static void survive_early_signals();

  static Result<SignalSource> make(SignalScope scope = SignalScope::kOurs);

  SignalSource(SignalSource&&) noexcept = default;
  SignalSource& operator=(SignalSource&&) noexcept = default;
  /// Leaves the signals blocked: one that arrives while we clean up must not end us in the middle of it.
  ~SignalSource() = default;

  /// To poll for reading.
  int fd() const { return fd_.get(); }
  /// A signal that has arrived and was not returned yet; nullopt when there is none. Never waits.
  /// Signals of one number that arrive before they are read are one, but for real-time signals.
  std::optional<ReceivedSignal> next();
  /// Signals that request our end, and were not returned yet, are forgotten.
  void forget_requests() const;
  /// Lets SIGINT, SIGTERM and SIGQUIT end us at once from now on: for when all that matters has been done. Those within
  /// `repeat_time` of `request`, which has been granted, change nothing. SIGHUP does not end us: a terminal that hangs
  /// up makes two of them, its own and the shell's, and the report may go to a file.
  void restore_defaults(std::chrono::steady_clock::time_point request,
                        std::chrono::nanoseconds repeat_time = kRepeatTime);
  /// The same, but the first signal of each number changes nothing, nor do others within `repeat_time` of it: for when
  /// the trace has ended by itself, so that a user who meant to end it, and is late, does not lose its report.
  void restore_defaults_after_one(std::chrono::nanoseconds repeat_time = kRepeatTime);
  /// The signals that were blocked when we were started.
  const sigset_t& original_mask() const { return original_mask_; }

 private:
  /// `spared_at`: when a first one was spared; 0: that one is still to come.
  void spare(std::int64_t spared_at, std::chrono::nanoseconds repeat_time);
  SignalSource(UniqueFd fd, const sigset_t& handled, const sigset_t& original_mask)
      : fd_(std::move(fd)), handled_(handled), original_mask_(original_mask) {}

  UniqueFd fd_;
  sigset_t handled_;
  sigset_t original_mask_;
};

}  // namespace hawk
