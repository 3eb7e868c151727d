#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "tests/unwinding/host_walk.h"
#include "tests/unwinding/stack_dump.h"

namespace hawk {

/// A dump whose registers and stack are not what they were.
struct DamagedDump {
  std::vector<std::uint8_t> bytes;
  StackDump dump;  ///< of `bytes`
};

/// Damages dumps at random, preferably where a walk reads: bits flip; words become zero, other words of the stack,
/// addresses of code, return addresses; rbp and rsp move; parts of the stack move, or are filled with one word.
class Corruption {
 public:
  explicit Corruption(std::uint64_t seed) : random_(seed) {}
  /// `walk`: of the undamaged dump.
  DamagedDump damage(const StackDump& dump, const HostWalk& walk, const HostTables& tables);
  /// From 0 to `limit` - 1.
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

 private:
  std::uint64_t any_word(const DamagedDump& damaged, const HostWalk& walk, const HostTables& tables);
  std::uint64_t code_address(const HostTables& tables);
  /// Offset of a word that the walk reads, or of any other.
  std::size_t any_offset(const DamagedDump& damaged, const HostWalk& walk);
  void damage_word(DamagedDump& damaged, const HostWalk& walk, const HostTables& tables);
  void damage_registers(DamagedDump& damaged, const HostWalk& walk);
  void damage_part(DamagedDump& damaged, const HostWalk& walk, const HostTables& tables);

  std::mt19937_64 random_;
};

}  // namespace hawk
