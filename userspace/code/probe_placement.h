#pragma once

#include <cstdint>
#include <string>

#include "bpf/kinds.h"
#include "userspace/code/allocator_catalogue.h"
#include "userspace/code/allocator_file.h"
#include "userspace/code/branch_targets.h"
#include "userspace/code/function_walk.h"

namespace hawk {

/// Where to put a function's entry probe.
struct ProbePoint {
  std::uint64_t vaddr = 0;
  std::string instruction;      ///< its mnemonic, lower case; empty when it could not be decoded
  bool single_stepped = false;  ///< the kernel cannot emulate it
  /// For each of the first three arguments: the register that holds it there, by the number that instructions encode it
  /// with. Where the ABI passes it unless that has been overwritten since and a copy lives on.
  ArgumentRegisters arguments = kPassedInOrder;
  CallerFrame frame = {};
};

/// The first instruction that every call runs through, that sees rsp and rbp as the caller left them, at which some
/// register holds each argument that the programs read for `kind`, and that the kernel emulates. For HAWK_CALL_FREE and
/// HAWK_CALL_MALLOC that is the first argument alone: jemalloc's free loads rdx long before its first branch. Copies
/// are followed: mimalloc's malloc moves the size to rsi and uses rdi for its heap. A single-stepped probe costs three
/// to thirteen times as much, and threads queue for the process's 32 slots to step in. The entry itself when there is
/// none near.
///
/// For HAWK_CALL_FREE an opening `test rdi, rdi; jz` counts as the end of calls with null: the instruction after it
/// may be chosen, so that free(NULL) costs nothing.
///
/// `passed_in`: the registers in which callers pass the arguments.
ProbePoint place_probe(BranchTargets& resolver, FunctionExtent function, hawk_call_kind kind,
                       const ArgumentRegisters& passed_in = kPassedInOrder);

/// Whether a call may come by the function's first instruction again: it loops to it, or goes on in a function that
/// jumps there. At an entry probe each turn would look like a call. Indirect jumps are taken to lead elsewhere.
bool begins_again(BranchTargets& resolver, FunctionExtent function);

}  // namespace hawk
