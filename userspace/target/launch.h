#pragma once

#include <string>
#include <vector>

#include "userspace/base/result.h"
#include "userspace/base/unique_fd.h"

namespace hawk {

/// A child that has been forked and waits, before execve, for the word to go.
class LaunchedCommand {
 public:
  /// Forks. The child keeps our standard streams and has default signal handling and our original signal mask, so that
  /// it behaves as if started by the user's shell. Fails with kUsage when `argv` is empty.
  static Result<LaunchedCommand> make(std::vector<std::string> argv);

  LaunchedCommand(LaunchedCommand&&) noexcept = default;
  LaunchedCommand& operator=(LaunchedCommand&&) noexcept = default;
  /// A child that was never released is killed and reaped.
  ~LaunchedCommand();

  int pid() const { return pid_; }
  /// Lets the child call execvp. Fails, with the child reaped, when it could not: kNoTarget with the reason.
  Result<void> release();
  /// Gives up ownership: the caller reaps.
  int disown();

 private:
  LaunchedCommand() = default;
  int pid_ = -1;
  UniqueFd go_;      ///< writing a byte releases the child
  UniqueFd failure_; ///< the child writes errno of execvp here; closed by a successful exec
};

/// The files that `argv` will map before its first instruction: the executable (after #! lines), its interpreter, and
/// every library that the dynamic linker will load, LD_PRELOAD included; asked of the dynamic linker itself (--list),
/// which does not run the program. Paths are absolute. kNoTarget when the command is not found or not executable.
Result<std::vector<std::string>> files_of_command(const std::vector<std::string>& argv);

}  // namespace hawk
