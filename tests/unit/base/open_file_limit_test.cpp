#include "userspace/base/open_file_limit.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace hawk {
namespace {

/// Runs in a child, whose limits are its own: lowers the limits, lets go of privileges, and exits with 0 if
/// the soft limit has become what raise_open_file_limit says and is at least `expected`.
int status_in_child(rlimit before, std::size_t wanted, std::size_t expected) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setrlimit(RLIMIT_NOFILE, &before) != 0) ::_exit(2);
    if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(3);
    const std::size_t limit = raise_open_file_limit(wanted);
    rlimit now = {};
    ::getrlimit(RLIMIT_NOFILE, &now);
    ::_exit(now.rlim_cur == limit && limit == expected ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

TEST(OpenFileLimit, WithoutPrivilegeTheHardLimitIsTheEnd) {
  EXPECT_EQ(status_in_child({.rlim_cur = 64, .rlim_max = 128}, 100, 100), 0);
  EXPECT_EQ(status_in_child({.rlim_cur = 64, .rlim_max = 128}, 500, 128), 0);
}

TEST(OpenFileLimit, NeverLowersIt) { EXPECT_EQ(status_in_child({.rlim_cur = 128, .rlim_max = 128}, 100, 128), 0); }

}  // namespace
}  // namespace hawk
