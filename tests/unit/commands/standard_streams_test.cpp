#include "userspace/commands/standard_streams.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>

#include "tests/support/status_in_child.h"

namespace hawk {
namespace {

bool is_as_good_as_closed(int fd) {
  char byte = 0;
  return ::write(fd, &byte, 1) < 0 && errno == EBADF && ::read(fd, &byte, 1) < 0 && errno == EBADF;
}

TEST(StandardStreams, NoFileOfOursTakesTheirNumbers) {
  for (int closed = 0; closed < 8; ++closed) {
    EXPECT_EQ(status_in_child([closed] {
                for (int fd = 0; fd < 3; ++fd) {
                  if ((closed >> fd & 1) != 0) ::close(fd);
                }
                secure_standard_streams();
                for (int fd = 0; fd < 3; ++fd) {
                  const bool was_closed = (closed >> fd & 1) != 0;
                  if (was_closed && !is_as_good_as_closed(fd)) return 1;
                  if (was_closed != ((::fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0)) return 2;
                }
                return ::dup(0) > 2 ? 0 : 3;
              }),
              0)
        << closed;
  }
}

TEST(StandardStreams, AReaderThatWentAwayIsAnErrorOfWrite) {
  EXPECT_EQ(status_in_child([] {
              secure_standard_streams();
              int ends[2] = {};
              if (::pipe(ends) != 0) return 1;
              ::close(ends[0]);
              return ::write(ends[1], "x", 1) == -1 && errno == EPIPE ? 0 : 2;
            }),
            0);
}

}  // namespace
}  // namespace hawk
