#pragma once

#include <string>
#include <vector>

#include "userspace/base/result.h"
#include "userspace/base/unique_fd.h"
#include "userspace/launch/command_user.h"

namespace hawk {

/// A child that has been forked and waits, before execve, for the word to go.
class LaunchedCommand {
 public:
  /// Forks. The child keeps hawktrace's standard streams, process group, environment and the signals that were ignored
  /// when hawktrace was started (nohup), and has default handling of all others and no signal blocked, so that it
  /// behaves as if started by the user's shell. The command is looked up here, as execvp does. `user`: whom it becomes
  /// before it executes anything; nullptr: hawktrace's own user. Fails with kUsage when `argv` is empty.
  static Result<LaunchedCommand> make(std::vector<std::string> argv, const CommandUser* user = nullptr);

  LaunchedCommand(LaunchedCommand&& other) noexcept;
  LaunchedCommand& operator=(LaunchedCommand&& other) noexcept;
  /// A child that was never released is killed and reaped.
  ~LaunchedCommand();

  int pid() const { return pid_; }
  /// Lets the child execute the command. Fails, with the child reaped, when it could not: kNotFound or kCannotExecute,
  /// kItself where it could not become the user.
  Result<void> release();
  /// Gives up ownership: the caller reaps.
  int disown();

 private:
  LaunchedCommand() = default;
  int pid_ = -1;
  std::string name_;
  std::string user_;  ///< the user that it becomes; empty: hawktrace's own
  UniqueFd go_;  ///< writing a byte releases the child; held until then, so that it distinguishes released from waiting
  UniqueFd failure_;  ///< the child writes what it failed at here; closed by a successful exec
};

/// The files that `argv` will map before its first instruction: the executable (after #! lines), its interpreter, and
/// every library that the dynamic linker will load, LD_PRELOAD included; asked of the dynamic linker itself (--list),
/// which does not run the program. Paths are absolute. kNotFound or kCannotExecute
/// where the command is that.
Result<std::vector<std::string>> files_of_command(const std::vector<std::string>& argv);

}  // namespace hawk
