#pragma once

#include <cstdint>
#include <span>

namespace hawk {

/// The memory in bytes of these BPF maps (descriptors), according to the kernel. It reports 0 for an arena.
std::uint64_t map_memory_bytes(std::span<const int> maps);

}  // namespace hawk
