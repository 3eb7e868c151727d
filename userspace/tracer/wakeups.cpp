#include "userspace/tracer/wakeups.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

namespace hawk {
namespace {

int ignore_record(void* /*context*/, void* /*record*/, std::size_t /*bytes*/) { return 0; }

}  // namespace

Result<WakeupRing> open_wakeups(int map_fd) {
  WakeupRing ring(ring_buffer__new(map_fd, ignore_record, nullptr, nullptr));
  if (!ring) return fail(ExitCode::kPrivilege, fmt::format("watch for wake-ups: {}", std::strerror(errno)));
  return ring;
}

}  // namespace hawk
