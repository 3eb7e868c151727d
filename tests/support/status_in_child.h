#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace hawk {

/// Runs `body`, which says by a number what failed, in a child, whose descriptors, signal mask and signal actions are
/// its own, and gives its exit status; -1 if it was killed.
template <class Body>
int status_in_child(Body body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace hawk
