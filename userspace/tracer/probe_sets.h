#pragma once

#include <cstdint>
#include <vector>

#include "userspace/code/allocator_file.h"
#include "userspace/tracer/links.h"

namespace hawk {

/// The probes of one file, by the program that takes them.
struct ProbeSets {
  std::vector<Probe> frees;
  std::vector<Probe> returning;         ///< allocating functions whose return the kernel may hijack
  std::vector<Probe> throwing;          ///< entries of the others
  std::vector<Probe> throwing_returns;  ///< and where they return
  std::vector<Probe> unfollowed;        ///< functions whose calls are counted
};

/// See HAWK_COOKIE_AT_RET.
std::uint64_t return_cookie(const ReturnPoint& point);

/// What to probe in a file, and with which cookies.
ProbeSets sort_probes(const AllocatorFile& allocator);

}  // namespace hawk
