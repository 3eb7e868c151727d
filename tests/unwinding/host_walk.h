#pragma once

/// What bpf/unwind/unwind.h needs from the world it runs in, for tests: tables in vectors, a stack in a buffer.

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "bpf/unwind/layout.h"
#include "tests/unwinding/stack_dump.h"

struct hawk_thread;

namespace hawk {

/// The code of one process: the data that user space passes to the kernel.
struct HostTables {
  std::vector<hawk_code_range> ranges;  ///< sorted
  std::span<const hawk_row> rows;       ///< of all files
  std::span<const hawk_rule> rules;
  /// Another one whenever the rule for some address is another; below 1 << HAWK_CACHE_GENERATION_BITS. 0: what is known
  /// of earlier walks counts for nothing, and nothing is learnt.
  std::uint32_t generation = 0;
  /// What a probe of the kernel's has put in place of return addresses, 0 for none; and those, by where they were
  /// stored.
  std::uint64_t trampoline = 0;
  std::map<std::uint64_t, std::uint64_t> replaced_returns = {};
};

/// How a walk ended.
struct HostWalk {
  std::vector<std::uint64_t> frames;
  std::uint32_t end = 0;  ///< enum hawk_end
  bool is_guessed = false;
  std::uint64_t hash = 0;                     ///< of all of the above, as stacks are known by
  std::uint32_t known_steps = 0;              ///< steps for which no rule was asked for
  std::uint32_t rules[HAWK_RULE_KINDS] = {};  ///< how often one of each kind was found
  std::vector<std::uint64_t> reads;           ///< addresses of the words of the stack that were asked for
};

/// Where a walk begins: in the caller of an allocator, after the call.
struct HostRegisters {
  std::uint64_t pc = 0, sp = 0, fp = 0;
};

/// A thread whose stacks are walked one after the other: what the kernel keeps from one walk to the next, that is known
/// steps and the cache of rules.
class HostThread {
 public:
  HostThread();
  HostThread(HostThread&&) noexcept;
  ~HostThread();

  /// The kernel's walk. `mode`: enum hawk_unwind; HAWK_UNWIND_FP is no walk by rules.
  HostWalk walk(const HostTables& tables, const StackMemory& stack, const HostRegisters& registers,
                std::uint32_t max_depth, hawk_unwind mode);

  /// Remembers the walk, which it has just made from these registers, by this number.
  void remember(const HostTables& tables, const StackMemory& stack, const HostRegisters& registers,
                const HostWalk& walk, std::uint32_t number);
  /// The number of the walk from these registers, if the thread remembers one that is the same; 0: it does not.
  std::uint32_t remembered(const HostTables& tables, const StackMemory& stack, const HostRegisters& registers);
  /// The same as it is asked for first: 0 also if the walk is not a small one.
  std::uint32_t remembered_at_hand(const HostTables& tables, const StackMemory& stack, const HostRegisters& registers);
  /// From now on it is another thread.
  void forget_walks();

 private:
  hawk_thread& ready(const HostTables& tables, const StackMemory& stack, HostWalk& result);
  friend HostWalk walk_on_host(const HostTables& tables, const StackMemory& stack, const HostRegisters& registers,
                               std::uint32_t max_depth, hawk_unwind mode);
  explicit HostThread(std::size_t cache_entries);
  std::unique_ptr<hawk_thread> thread_;
};

/// The first walk of a thread, for which every other address has its rule in the cache.
HostWalk walk_on_host(const HostTables& tables, const StackMemory& stack, const HostRegisters& registers,
                      std::uint32_t max_depth, hawk_unwind mode);

/// The hash that a walk has to have, by its frames and its end.
std::uint64_t hash_of(const HostWalk& walk);

/// Whether two walks found the same stack: frames, end, whether it is guessed, hash.
bool is_same_stack(const HostWalk& walk, const HostWalk& other);

/// Number of the rule for the code at an address.
std::uint32_t host_rule_number(const HostTables& tables, std::uint64_t address);

}  // namespace hawk
