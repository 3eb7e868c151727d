#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "userspace/base/result.h"
#include "userspace/tables/live_ages.h"
#include "userspace/tables/stack_lives.h"
#include "userspace/tracer/kernel_maps.h"
#include "userspace/tracer/live_blocks.h"

namespace hawk {

/// What is known of the lives of the blocks of a target, by the stacks of a drain.
struct TargetLives {
  std::vector<AgedBlocks> ages = {};                   ///< of those that live; ascending by stack, then by birth
  std::uint32_t age_bits = LiveAges::kExactAges;       ///< as there
  std::optional<std::vector<StackLives>> stacks = {};  ///< ascending by stack and number; nullopt: not counted
  /// What threads were called when they last had a new stack; nullopt: stacks are not told apart by threads.
  std::optional<std::vector<ThreadName>> thread_names = {};
};

/// By what births of blocks have to be told apart, however many there are.
struct BirthCuts {
  std::uint64_t now_ms = 0;                   ///< the trace's clock
  std::vector<std::uint64_t> births_ms = {};  ///< those from each of these on from those before it
};

/// Reads what the kernel's maps have of it, of the programs that targets run.
class LivesReader {
 public:
  /// For each target, in the order of hawk_target.
  Result<std::vector<TargetLives>> read(const LiveBlocks& blocks, const KernelMaps& maps, const BirthCuts& cuts) const;
  /// The stacks of these programs count from zero again, and their threads have no names: others will run under their
  /// numbers.
  void count_from_zero(const KernelMaps& maps, const std::set<std::uint32_t>& programs);

 private:
  void add_stacks(const KernelMaps& maps, std::vector<TargetLives>& lives) const;
  std::unordered_map<std::uint32_t, hawk_stack_lives> before_;  ///< what was counted for programs before, by stack
};

}  // namespace hawk
