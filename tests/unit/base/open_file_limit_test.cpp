#include "userspace/base/open_file_limit.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

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

/// Runs in a child: how many descriptors its table holds (FDSize, proc(5)) once there is room for `count`, with `limit`
/// as the hard limit. None if it has a file open that it had not before.
std::optional<std::size_t> table_size_in_child(std::size_t count, rlim_t limit) {
  std::array<int, 2> ends = {};
  if (::pipe(ends.data()) != 0) return std::nullopt;
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit own = {.rlim_cur = std::min<rlim_t>(limit, 64), .rlim_max = limit};
    if (::setrlimit(RLIMIT_NOFILE, &own) != 0) ::_exit(2);
    if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(3);
    const int next = ::dup(STDIN_FILENO);
    ::close(next);
    make_room_for_open_files(count);
    if (::dup(STDIN_FILENO) != next || ::fcntl(static_cast<int>(count) - 1, F_GETFD) >= 0) ::_exit(4);
    std::array<char, 4096> text = {};
    const int status = ::open("/proc/self/status", O_RDONLY);
    const ssize_t length = ::read(status, text.data(), text.size());
    ::_exit(length > 0 && ::write(ends[1], text.data(), length) == length ? 0 : 5);
  }
  ::close(ends[1]);
  std::string text(4096, '\0');
  text.resize(std::max<ssize_t>(::read(ends[0], text.data(), text.size()), 0));
  ::close(ends[0]);
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  const std::size_t line = text.find("FDSize:");
  if (status != 0 || line == std::string::npos) return std::nullopt;
  return std::strtoull(text.c_str() + line + std::strlen("FDSize:"), nullptr, 10);
}

TEST(OpenFileLimit, TheTableHasRoomForAsManyAsAreAskedFor) {
  EXPECT_GE(table_size_in_child(5000, 10000), 5000);
  EXPECT_LT(table_size_in_child(500, 10000), 5000);
}

TEST(OpenFileLimit, TheTableHasRoomForAsManyAsMayBeOpen) {
  EXPECT_GE(table_size_in_child(5000, 2000), 2000);
  EXPECT_LT(table_size_in_child(5000, 2000), 5000);
}

TEST(OpenFileLimit, NeverLowersIt) { EXPECT_EQ(status_in_child({.rlim_cur = 128, .rlim_max = 128}, 100, 128), 0); }

}  // namespace
}  // namespace hawk
