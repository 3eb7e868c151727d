#pragma once

#include <linux/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <latch>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "bpf/layout.h"
#include "userspace/base/owned.h"
#include "userspace/base/result.h"
#include "userspace/base/unique_fd.h"
#include "userspace/tracer/wakeups.h"

namespace hawk {

/// The frames of all stacks, which grow with their number: adds segments before the programs need them, whatever the
/// rest of us is at. For that it has a thread: who draws a screen or reads the tables of a library cannot answer in
/// time.
class FrameStore {
 public:
  /// Both maps live as long as this.
  struct Kernel {
    int segments_fd = -1;  ///< the map frame_segments
    int wakeups_fd = -1;   ///< the map frame_wakeups
    hawk_state* state = nullptr;
  };
  /// For up to `most` frames, and `spare` at first; both are whole segments.
  static Result<std::unique_ptr<FrameStore>> make(const Kernel& kernel, std::uint32_t most, std::uint32_t spare);
  FrameStore(const FrameStore&) = delete;
  FrameStore& operator=(const FrameStore&) = delete;
  ~FrameStore();

  /// Begins to keep room for `spare` frames ahead of what is stored. The kernel takes 15 ms; who waits for it side by
  /// side with something else that does, begun at the same time, waits only once.
  void start();
  /// Starts, if it has not begun, and returns when the first frames have room.
  void wait_until_open();
  /// No more room is needed from now on, nor the thread that makes it.
  void end();
  /// Less room than this: programs ask for more. An eighth of what is kept ahead is used by then.
  static constexpr std::uint32_t low_of(std::uint32_t spare) { return spare / 8 * 7; }

  /// Numbers of places, `most` of them. Those of a stack can be read once its number is known; beyond what is stored
  /// there is no memory.
  std::span<const __u32> frames() const;
  /// Whether the kernel has ever had no memory for a segment.
  bool is_refused_memory() const { return refused_.load(std::memory_order_relaxed); }
  /// The least room there has been for frames, since it was made.
  std::uint64_t least_room() const;

 private:
  FrameStore(const Kernel& kernel, std::uint32_t most, std::uint32_t spare)
      : kernel_(kernel), most_(most), spare_(spare) {}
  Result<void> open();
  Result<void> grow();
  Result<void> make_segments(std::size_t count);
  Result<void> hand_over();
  Result<UniqueFd> make_segment(std::size_t number);
  std::uint64_t room() const;
  std::uint64_t wanted() const;
  bool wait(int timeout_ms) const;
  void open_for_programs();
  void work();

  Kernel kernel_;
  std::uint32_t most_;
  std::uint32_t spare_;
  std::byte* memory_ = nullptr;  ///< addresses for all segments, in which those there are lie one after the other
  std::vector<UniqueFd> made_;   ///< segments that the programs do not have yet
  std::latch opened_{1};
  std::atomic<std::uint64_t> least_room_ = ~std::uint64_t{0};
  std::atomic<bool> refused_ = false;
  WakeupRing wakeups_;
  UniqueFd stop_;  ///< readable: the thread shall end
  std::jthread thread_;
};

}  // namespace hawk
