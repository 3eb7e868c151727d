#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "bpf/layout.h"
#include "userspace/base/result.h"
#include "userspace/base/unique_fd.h"
#include "userspace/tracer/memory_thread.h"

namespace hawk {

/// Maps for blocks that the programs had no memory for: adds the next one when the last is used for the first time.
///
/// A BPF program gets memory at once or not at all: in a cgroup at its limit not at all, even if the cgroup holds only
/// page cache. User space can wait until the kernel has made room. It has a thread, because programs fill a map in tens
/// of milliseconds.
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

  /// Gives maps to the programs, once it has started. The kernel takes 15 ms for each.
  MemoryThread& thread() { return thread_; }

  /// The number of blocks for which the first `maps` maps have room together, at most `most`.
  static std::uint32_t room_of(std::uint32_t maps, std::uint32_t most);
  /// The maps: hawk_block_key -> hawk_block. They stay open during the lifetime of this object.
  std::vector<int> map_fds() const;
  /// The number of blocks for which the maps used so far have room together.
  std::uint32_t room_used() const;

 private:
  BlockReserve(const Kernel& kernel, std::uint32_t most) : kernel_(kernel), most_(most) {}
  Result<void> open();
  Result<void> make_more();
  std::uint32_t made() const;
  Result<UniqueFd> make_map() const;
  Result<void> hand_over(UniqueFd map);

  Kernel kernel_;
  std::uint32_t most_;
  mutable std::mutex mutex_;
  std::vector<UniqueFd> maps_;  ///< that the programs have; guarded by mutex_
  UniqueFd first_;              ///< made, and not yet handed over
  MemoryThread thread_;         ///< the last, so that it ends before what it works on
};

}  // namespace hawk
