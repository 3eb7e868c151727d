#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace hawk {

/// How to step over one call site of a function that keeps no frame pointer.
struct CallSiteRule {
  std::uint64_t return_vaddr = 0;      ///< ELF virtual address after the call instruction
  std::uint32_t cfa_offset_bytes = 0;  ///< canonical frame address minus rsp as it is once the call has returned
  /// Where the caller's rbp was saved: bytes above that same rsp; nullopt: rbp still holds the caller's value.
  std::optional<std::uint32_t> saved_rbp_offset_bytes;
  bool operator==(const CallSiteRule&) const = default;
};

/// The forms of `operator new` in one file that call an allocator and keep no frame: libstdc++'s, libc++abi's, an
/// executable's own. A frame-pointer walk would skip their caller, which is the very function the user looks for.
struct OperatorFrames {
  std::vector<CallSiteRule> call_sites;      ///< sorted by return_vaddr; never empty
  std::optional<std::uint64_t> init_vaddr;   ///< see ElfImage::init_vaddr
  std::optional<std::uint64_t> init_offset;  ///< the same as file offset
};

}  // namespace hawk
