#include "userspace/tracer/wakeups.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "userspace/base/system_failure.h"

namespace hawk {
namespace {

int ignore_record(void* /*context*/, void* /*record*/, std::size_t /*bytes*/) { return 0; }

}  // namespace

Result<WakeupRing> open_wakeups(int map_fd) {
  WakeupRing ring(ring_buffer__new(map_fd, ignore_record, nullptr, nullptr));
  if (!ring) return system_failure(ExitCode::kPrivilege, "watch for wake-ups", errno);
  return ring;
}

}  // namespace hawk
