#pragma once

#include <linux/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "bpf/layout.h"
#include "userspace/base/result.h"
#include "userspace/base/unique_fd.h"
#include "userspace/tracer/memory_thread.h"

namespace hawk {

/// The frames of all stacks, which grow with their number: adds segments before the programs need them.
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

  /// Keeps room for `spare` frames in addition to the stored ones, once it has started. The kernel takes 15 ms to
  /// pass the first to the programs; if another such operation is started at the same time, both take 15 ms
  /// together.
  MemoryThread& thread() { return thread_; }
  /// Less room than this: programs request more. One eighth of the reserve is used by then.
  static constexpr std::uint32_t low_of(std::uint32_t spare) { return spare / 8 * 7; }

  /// `count` numbers of locations from `first` on. Those of a stack can be read once its number is known, by one thread
  /// at a time. Throws std::bad_alloc where they cannot be mapped.
  std::span<const __u32> frames(std::uint64_t first, std::uint32_t count);
  /// The smallest room for frames so far.
  std::uint64_t least_room() const;

 private:
  FrameStore(const Kernel& kernel, std::uint32_t most, std::uint32_t spare)
      : kernel_(kernel), most_(most), spare_(spare) {}
  Result<void> open();
  Result<void> grow();
  Result<void> make_segments(std::size_t count);
  Result<void> hand_over();
  UniqueFd take_unmapped();
  void map_next();
  std::uint64_t room() const;
  std::uint64_t wanted() const;
  Result<void> make_more();

  Kernel kernel_;
  std::uint32_t most_;
  std::uint32_t spare_;
  std::byte* memory_ = nullptr;  ///< addresses for all segments, of which the first ones are mapped
  std::uint64_t mapped_ = 0;     ///< frames
  UniqueFd next_;                ///< the segment behind those that are mapped, if it was taken from unmapped_
  std::vector<UniqueFd> made_;   ///< segments that the programs do not have yet
  std::mutex mutex_;
  std::vector<UniqueFd> unmapped_;  ///< segments that the programs have, in their order, which are not mapped yet
  std::atomic<std::uint64_t> least_room_ = ~std::uint64_t{0};
  MemoryThread thread_;
};

}  // namespace hawk
