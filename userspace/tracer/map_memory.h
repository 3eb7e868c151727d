#pragma once

#include <cstdint>

namespace hawk {

/// Bytes that the kernel says the BPF maps take which this process holds, each once. Arenas are not among them: kernels
/// say nothing of their pages.
std::uint64_t map_memory_bytes();

}  // namespace hawk
