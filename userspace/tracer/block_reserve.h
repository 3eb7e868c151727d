#pragma once

#include <atomic>
#include <cstdint>
#include <latch>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "bpf/layout.h"
#include "userspace/base/result.h"
#include "userspace/base/unique_fd.h"
#include "userspace/tracer/wakeups.h"

namespace hawk {

/// Maps for blocks that the programs had no memory for: adds the next one when the last is used for the first time.
///
/// What a program allocates it gets at once or not at all: in a cgroup at its limit not at all, even if all it holds is
/// the page cache of files that we have read. We can wait until the kernel has made room. It has a thread, because
/// programs fill a map in tens of milliseconds.
class BlockReserve {
 public:
  /// Both maps live as long as this.
  struct Kernel {
    int maps_fd = -1;     ///< the map reserve_maps
    int wakeups_fd = -1;  ///< the map reserve_wakeups
    const hawk_state* state = nullptr;
  };
  /// For up to `most` blocks, HAWK_RESERVE_BLOCKS at first.
  static Result<std::unique_ptr<BlockReserve>> make(const Kernel& kernel, std::uint32_t most);
  BlockReserve(const BlockReserve&) = delete;
  BlockReserve& operator=(const BlockReserve&) = delete;
  ~BlockReserve();

  /// Begins to give maps to the programs. The kernel takes 15 ms for each.
  void start();
  /// Starts, if it has not begun, and returns when the programs have the first map.
  void wait_until_open();

  /// Blocks that the first `maps` maps have room for together, `most` at the most.
  static std::uint32_t room_of(std::uint32_t maps, std::uint32_t most);
  /// The maps there are: epoch << HAWK_EPOCH_SHIFT | address -> hawk_block. They stay open as long as this lives.
  std::vector<int> map_fds() const;
  /// Blocks that the maps which were ever used have room for together.
  std::uint32_t room_used() const;
  /// Whether the kernel has ever had no memory for a map.
  bool is_refused_memory() const { return refused_.load(std::memory_order_relaxed); }

 private:
  BlockReserve(const Kernel& kernel, std::uint32_t most) : kernel_(kernel), most_(most) {}
  Result<void> open();
  Result<void> grow();
  std::uint32_t made() const;
  Result<UniqueFd> make_map() const;
  Result<void> hand_over(UniqueFd map);
  bool wait(int timeout_ms) const;
  void open_for_programs();
  void work();

  Kernel kernel_;
  std::uint32_t most_;
  mutable std::mutex mutex_;
  std::vector<UniqueFd> maps_;  ///< that the programs have; guarded by mutex_
  std::latch opened_{1};
  std::atomic<bool> refused_ = false;
  WakeupRing wakeups_;
  UniqueFd first_;  ///< made, and not yet handed over
  UniqueFd stop_;   ///< readable: the thread shall end
  std::jthread thread_;
};

}  // namespace hawk
