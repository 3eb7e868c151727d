#include "userspace/base/open_file_limit.h"

#include <sys/resource.h>

#include <algorithm>

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

}  // namespace hawk
