#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "bpf/regions.h"
#include "userspace/base/result.h"
#include "userspace/base/unique_fd.h"
#include "userspace/tables/region_table.h"
#include "userspace/tracer/wakeups.h"

namespace hawk {

/// The tables of the regions of all targets, kept up to date by what the programs announce (bpf/regions.bpf.h). A
/// thread of its own reads that when there is much of it: a process can map and unmap faster than a screen is drawn.
///
/// Every process's memory has a table, and belongs to the program that runs on it (Tracer::program).
class RegionFeed {
 public:
  /// `ring_fd`: the map region_events. It must live longer.
  static Result<std::unique_ptr<RegionFeed>> make(int ring_fd);
  RegionFeed(const RegionFeed&) = delete;
  RegionFeed& operator=(const RegionFeed&) = delete;
  ~RegionFeed();

  /// Begins the table of a process that runs already. To be called before its changes are announced. `older`: what it
  /// has mapped.
  void begin(std::uint64_t memory, std::uint32_t program, const std::vector<KnownRegion>& older);
  /// Whether the program's table is to be settled (RegionTable). False as well if it has none.
  bool is_unsettled(std::uint32_t program);
  /// `known`: read since the table began, or since note_lost().
  void settle(std::uint32_t program, const std::vector<KnownRegion>& known);
  /// So many changes of the program's target were not announced until now. If these are new, its table is to be
  /// settled; the one that the program has begun on this memory may be among them.
  void note_lost(std::uint64_t memory, std::uint32_t program, std::uint64_t lost);
  /// What the program has mapped, by owner, as of now. Nothing if it has no table.
  std::vector<std::pair<RegionOwner, RegionCounters>> owners(std::uint32_t program);
  /// Its target is traced no more.
  void forget(std::uint32_t program);

 private:
  RegionFeed() = default;
  struct Memory {
    RegionTable table;
    std::uint32_t program = 0;  ///< that runs on it
    std::uint64_t lost = 0;     ///< changes of the target that were not announced, as noted here
  };
  /// A copy of a memory, which a process will begin with.
  struct Fork {
    RegionTable table;
    std::uint32_t program = 0;  ///< that has made it
  };
  static int take_record(void* feed, void* record, std::size_t bytes);
  void take(const hawk_region_event& event);
  void take_fork(const hawk_region_event& event);
  void take_memory(std::uint64_t key, Memory memory);
  void read();
  Memory* memory_of(std::uint32_t program);
  void run();

  std::mutex mutex_;  ///< over all below but the thread
  WakeupRing ring_;
  std::map<std::uint64_t, Memory> memories_;  ///< by key
  std::map<std::uint64_t, Fork> forks_;       ///< by the key of the thread that makes the process
  UniqueFd stop_;                             ///< readable: the thread must end
  std::jthread thread_;
};

}  // namespace hawk
