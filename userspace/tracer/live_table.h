#pragma once

#include <string_view>

namespace hawk {

/// Where the kernel keeps live blocks.
enum class LiveTable {
  kArena,  ///< a BPF arena, Linux 6.10 and later: half the cost, a quarter of the memory, grows and shrinks by itself
  kHash,   ///< a hash map, whose memory comes with the blocks, and a reserve (BlockReserve)
};

/// "arena", "hash".
std::string_view live_table_name(LiveTable table);

}  // namespace hawk
