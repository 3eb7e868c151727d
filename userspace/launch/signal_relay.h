#pragma once

#include "userspace/base/signal_source.h"

namespace hawk {

/// What becomes of the signals that reach us while a command of ours runs. Those that a process sends to us are meant
/// for the command and passed on to it, with their value. Those of the terminal's keys have reached the command
/// already, which is in our process group; the second of them is meant for us.
class SignalRelay {
 public:
  /// `pid` and `pid_fd`: the command, which cannot be mistaken for another process by its descriptor.
  SignalRelay(int pid, int pid_fd) : pid_(pid), pid_fd_(pid_fd) {}

  /// What take() asks its caller to do.
  enum class Action { kNothing, kSayToWait, kEnd };
  Action take(const ReceivedSignal& signal);

 private:
  int pid_;
  int pid_fd_;
  bool interrupted_ = false;  ///< by a key
};

}  // namespace hawk
