#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "userspace/base/result.h"

namespace hawk {

/// Whom a command runs as.
struct CommandUser {
  std::string name;
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;  ///< all of them, as initgroups(3) sets them
  std::string home;
  std::string shell;
};

/// A user by name or number, with the groups that the system's databases give. kUsage: there is none.
Result<CommandUser> find_user(std::string_view text);

/// Our environment as the user has it: HOME, SHELL, USER and LOGNAME are the user's, as su and runuser set them.
std::vector<std::string> environment_of(const CommandUser& user);

/// What kept become_user() from its end: a system call and its errno. `call` is a literal.
struct UserFailure {
  const char* call = nullptr;  ///< nullptr: nothing did
  int error = 0;
};

/// Becomes that user for good: groups, all user and group ids, no capability left (but for root, to whom exec gives
/// them back). The bounding set stays, so that programs with a set-user-id bit work as in the user's shell. For a child
/// between fork and exec: nothing but system calls.
UserFailure become_user(const CommandUser& user) noexcept;

}  // namespace hawk
