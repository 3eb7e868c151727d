#pragma once

/// What bpf/unwind.h needs from the world it runs in, for tests: tables in vectors, a stack in a buffer, no cache.

#include <cstdint>
#include <span>
#include <vector>

#include "bpf/unwind_layout.h"
#include "tests/unwinding/stack_dump.h"

namespace hawk {

/// The code of one process: what user space tells the kernel.
struct HostTables {
  std::vector<hawk_code_range> ranges;  ///< sorted
  std::span<const hawk_row> rows;       ///< of all files
  std::span<const hawk_rule> rules;
};

/// How a walk ended.
struct HostWalk {
  std::vector<std::uint64_t> frames;
  std::uint32_t end = 0;  ///< enum hawk_end
  bool is_guessed = false;
  std::uint32_t rules[HAWK_RULE_KINDS] = {};  ///< how often one of each kind was found
  std::vector<std::uint64_t> reads;           ///< addresses of the words of the stack that were asked for
};

/// Where a walk begins: in the caller of an allocator, after the call.
struct HostRegisters {
  std::uint64_t pc = 0, sp = 0, fp = 0;
};

/// The kernel's walk. `mode`: enum hawk_unwind; HAWK_UNWIND_FP is no walk by rules.
HostWalk walk_on_host(const HostTables& tables, const StackMemory& stack, const HostRegisters& registers,
                      std::uint32_t max_depth, hawk_unwind mode);

/// Number of the rule for the code at an address.
std::uint32_t host_rule_number(const HostTables& tables, std::uint64_t address);

}  // namespace hawk
