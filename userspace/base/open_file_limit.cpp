#include "userspace/base/open_file_limit.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

#include "userspace/base/unique_fd.h"

namespace hawk {

std::size_t raise_open_file_limit(std::size_t wanted) {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  if (limit.rlim_cur >= wanted) return limit.rlim_cur;
  // Beyond the hard limit only with CAP_SYS_RESOURCE, which a container may lack.
  const rlimit raised = {.rlim_cur = wanted, .rlim_max = std::max<rlim_t>(limit.rlim_max, wanted)};
  if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) return wanted;
  const rlimit allowed = {.rlim_cur = std::min<rlim_t>(limit.rlim_max, wanted), .rlim_max = limit.rlim_max};
  if (::setrlimit(RLIMIT_NOFILE, &allowed) == 0) return allowed.rlim_cur;
  return limit.rlim_cur;
}

void make_room_for_open_files(std::size_t count) {
  const std::size_t possible = std::min(count, raise_open_file_limit(count));
  if (possible == 0) return;
  // A copy of any open file will do; if the number is taken, it gets a higher one.
  const UniqueFd last(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, static_cast<int>(possible - 1)));
}

}  // namespace hawk
