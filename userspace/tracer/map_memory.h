#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace hawk {

/// The memory in bytes of a BPF map (a descriptor), according to the kernel; nullopt: it does not say. It reports 0 for
/// an arena.
std::optional<std::uint64_t> map_memory_bytes(int map);

/// Of maps whose memory the kernel takes when they are made: each is asked for once, which takes some 3 us.
class FixedMapsMemory {
 public:
  /// `maps`: the same as in the call before, and more behind them. Where some are missing by now, and others are in
  /// their place, these must be as large.
  std::uint64_t bytes(std::span<const int> maps);

 private:
  std::vector<std::uint64_t> known_;
};

}  // namespace hawk
