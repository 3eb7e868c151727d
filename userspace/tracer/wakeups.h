#pragma once

#include <bpf/libbpf.h>

#include <memory>

#include "userspace/base/owned.h"
#include "userspace/base/result.h"

namespace hawk {

/// Our end of a ring through which programs wake us up. What they write into it says nothing more.
using WakeupRing = std::unique_ptr<ring_buffer, Freer<ring_buffer__free>>;

/// Of the ring buffer map behind `map_fd`.
Result<WakeupRing> open_wakeups(int map_fd);

}  // namespace hawk
