#pragma once

#include <cstdint>
#include <span>

namespace hawk {

/// Bytes that the kernel says these BPF maps take, given as descriptors. Of an arena it says nothing: 0.
std::uint64_t map_memory_bytes(std::span<const int> maps);

}  // namespace hawk
