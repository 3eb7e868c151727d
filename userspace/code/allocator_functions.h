#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bpf/kinds.h"
#include "userspace/code/allocator_catalogue.h"
#include "userspace/code/return_points.h"
#include "userspace/elf/elf_image.h"

namespace hawk {

/// See ReturnPoint.
struct ReturnPointAt {
  std::uint64_t file_offset = 0;
  ReturnPoint point;
};

/// One address to probe, with all the names it goes by.
struct AllocatorFunction {
  std::vector<std::string> names;  ///< sorted; same-address aliases once: {"cfree", "free"}
  hawk_call_kind kind = HAWK_CALL_NONE;
  std::uint64_t entry_offset = 0;  ///< file offset of the first instruction
  std::uint64_t probe_offset = 0;  ///< file offset of the instruction chosen for the entry probe
  std::string instruction;         ///< its mnemonic, lower case: "push", "jz"
  bool single_stepped = false;     ///< the kernel cannot emulate it
  /// Registers that hold its arguments there, by the numbers that instructions encode: see ProbePoint.
  ArgumentRegisters arguments = kPassedInOrder;
  /// The function may throw, so that the kernel's return probe (which no unwinder can cross) is out of the question:
  /// the result is taken by probes on these `ret` instructions, as file offsets, and on return_points instead of
  /// others. Both are empty for functions that never throw. A slow path that the function jumps to may be shared with
  /// other functions, or be called from within this one: a `ret` is this function's only where rsp is what it was at
  /// the entry probe.
  std::vector<std::uint64_t> return_offsets;
  std::vector<ReturnPointAt> return_points;
  bool may_throw = false;
};

/// An allocator function that was found but cannot be probed.
struct UnprobedFunction {
  std::string name;
  std::string reason;  ///< "its code could not be followed to its returns"
};

/// What one file contributes to the process's allocator.
struct AllocatorFile {
  std::vector<AllocatorFunction> functions;  ///< sorted by entry_offset; empty: the file is no allocator
  /// Functions whose calls are counted, because what they do to which block cannot be followed.
  std::vector<AllocatorFunction> unfollowed;
  std::vector<UnprobedFunction> unprobed;
  /// The program cannot call the file's functions but through the dynamic linker: a direct call of one of them is the
  /// allocator's own.
  bool is_library = false;
};

/// Finds every function of the allocator catalogue that `image` defines and decides where to probe it.
AllocatorFile find_allocator_functions(const ElfImage& image);

}  // namespace hawk
