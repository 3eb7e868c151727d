#include "userspace/attach/trace_clock.h"

#include <algorithm>

#include "bpf/clock.h"

namespace hawk {

std::uint32_t TraceClock::advance() {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(elapsed_()).count();
  stamp_ = std::max(stamp_, hawk_stamp_of(static_cast<std::uint64_t>(std::max<std::int64_t>(ms, 0))));
  return stamp_;
}

std::uint32_t TraceClock::mark() {
  const std::uint32_t before = stamp_;
  if (advance() == before && stamp_ < HAWK_STAMP_MOST) ++stamp_;
  marks_ms_.push_back(now_ms());
  return stamp_;
}

std::uint64_t TraceClock::now_ms() const { return hawk_stamp_ms(stamp_); }

}  // namespace hawk
