#pragma once

#include <sys/utsname.h>

#include <cstdio>
#include <tuple>

namespace hawk {

/// Whether the kernel that runs is Linux `major`.`minor` or newer.
inline bool kernel_is_at_least(int major, int minor) {
  utsname kernel = {};
  int own_major = 0, own_minor = 0;
  if (::uname(&kernel) != 0 || std::sscanf(kernel.release, "%d.%d", &own_major, &own_minor) != 2) return false;
  return std::tie(own_major, own_minor) >= std::tie(major, minor);
}

}  // namespace hawk
