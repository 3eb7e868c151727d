#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hawk {

/// What a region of an address space is made of, as /proc/PID/smaps distinguishes it.
enum class RegionKind : std::uint8_t {
  kAnonymous,  ///< private memory of no file
  kBrk,        ///< the same, below the program break
  kStack,      ///< the same, mapped for a thread's stack (MAP_STACK), or the stack of the process
  kFile,       ///< of a file, private or shared
  kShared,     ///< shared memory of no file, or of a file without a name (memfd_create)
  kShm,        ///< a segment of shmat
  kKernel,     ///< what the kernel provides: vdso, vvar
};
inline constexpr std::size_t kRegionKinds = 7;
/// "anonymous", "brk", "stack", "file", "shared", "shm", "kernel".
std::string_view region_kind_name(RegionKind kind);

/// Whose a region is.
enum class RegionOrigin : std::uint8_t {
  kProgram,    ///< a call of the program's own
  kAllocator,  ///< an allocator, inside a call of the program: blocks lie there
  kOlder,      ///< it was mapped before the trace, or before the program's first instruction
};
inline constexpr std::size_t kRegionOrigins = 3;
/// "program", "allocator", "older".
std::string_view region_origin_name(RegionOrigin origin);

/// What was mapped by one stack, of one kind. `live`: what of it is still mapped.
struct RegionCounters {
  std::uint64_t mapped_bytes = 0;    ///< only grows
  std::uint64_t mapped_count = 0;    ///< calls that mapped something; only grows
  std::uint64_t unmapped_bytes = 0;  ///< only grows
  std::uint64_t regions = 0;         ///< contiguous ranges that are live

  std::uint64_t live_bytes() const { return mapped_bytes - unmapped_bytes; }
  bool operator==(const RegionCounters&) const = default;
};

/// False: a sum is larger than any number.
bool add(RegionCounters& sum, const RegionCounters& more);

}  // namespace hawk
