#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace hawk {

/// The clock of a trace, by which blocks are born (bpf/clock.h): it stands still from one drain to the next. Marks,
/// each of which begins a generation of blocks, advance it too.
class TraceClock {
 public:
  /// How long ago the trace began.
  using Elapsed = std::function<std::chrono::nanoseconds()>;
  explicit TraceClock(Elapsed elapsed) : elapsed_(std::move(elapsed)) {}

  /// Returns the stamp of now.
  std::uint32_t advance();
  /// Begins a generation. Returns a stamp that none has had so far.
  std::uint32_t mark();

  /// Of the last stamp.
  std::uint64_t now_ms() const;
  const std::vector<std::uint64_t>& marks_ms() const { return marks_ms_; }

 private:
  Elapsed elapsed_;
  std::uint32_t stamp_ = 0;
  std::vector<std::uint64_t> marks_ms_;
};

}  // namespace hawk
