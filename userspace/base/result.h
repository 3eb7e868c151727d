#pragma once

#include <tl/expected.hpp>

#include <string>
#include <utility>
#include <vector>

namespace hawk {

/// The program's exit codes. A user's script may rely on each of them. With a command, whose own status hawktrace
/// passes on, those of failures become kItself: see exit_status_of.
enum class ExitCode {
  kOk = 0,
  kUsage = 2,      ///< malformed command line
  kNoTarget = 3,   ///< no such process, or gone before the trace began
  kPrivilege = 4,  ///< not privileged, or the kernel lacks something
  kNotExact = 5,   ///< finished, but with losses, under --require-exact
  kFile = 6,       ///< a file could not be read or written
  kInternal = 70,  ///< our own bug
  // As env(1) and timeout(1) have them.
  kItself = 125,         ///< hawktrace failed, not the command
  kCannotExecute = 126,  ///< the command
  kNotFound = 127,       ///< the command
};

/// The status to exit with for `code`, which is of a failure. `has_command`: a command's own status must not be taken
/// for it.
inline int exit_status_of(ExitCode code, bool has_command) {
  const bool stays = code == ExitCode::kNotExact || code >= ExitCode::kItself;
  return static_cast<int>(has_command && !stays ? ExitCode::kItself : code);
}

/// Why something outside our control failed, in the words the user will read.
struct Error {
  ExitCode exit_code = ExitCode::kPrivilege;
  std::string what;                       ///< what we were doing, on what, why: "open /proc/42/maps: Permission denied"
  std::string hint;                       ///< the remedy, without the "hint:" prefix; empty when there is none
  std::vector<std::string> details = {};  ///< lines between the two
};

/// A T, or the Error that kept us from it. What the outside world can break returns one of these.
template <class T>
using Result = tl::expected<T, Error>;

/// Shorthand for returning a failure from a function that returns Result<T>.
inline tl::unexpected<Error> fail(ExitCode exit_code, std::string what, std::string hint = {}) {
  return tl::unexpected<Error>(Error{exit_code, std::move(what), std::move(hint), {}});
}

}  // namespace hawk

/// Unwraps a Result or returns its error to our caller. A GNU statement expression: gcc and clang only, as we are.
#define HAWK_TRY(expression)                                                        \
  (__extension__({                                                                  \
    auto result_ = (expression);                                                    \
    if (!result_) return tl::unexpected<::hawk::Error>(std::move(result_).error()); \
    std::move(result_).value();                                                     \
  }))

/// As HAWK_TRY, for a Result<void>.
#define HAWK_TRY_VOID(expression)                                                   \
  do {                                                                              \
    auto result_ = (expression);                                                    \
    if (!result_) return tl::unexpected<::hawk::Error>(std::move(result_).error()); \
  } while (false)
