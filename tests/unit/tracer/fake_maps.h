#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "userspace/base/unique_fd.h"
#include "userspace/tracer/kernel_maps.h"

namespace hawk {

/// The kernel's maps for tests: arrays as BPF programs fill them, with two stripes, mapped as user space maps them.
class FakeMaps {
 public:
  static constexpr std::uint32_t kStacks = 16;
  static constexpr std::uint32_t kFrames = 64;
  /// That the first target runs.
  static constexpr std::uint32_t kProgram = 3 * HAWK_NEXT_PROGRAM;

  FakeMaps();

  hawk_counters& counters(std::uint32_t stripe, std::uint32_t stack) { return counters_[stripe * kStacks + stack]; }
  /// Gives the next number to a stack with these frames.
  std::uint32_t add_stack(const std::vector<std::uint64_t>& addresses, std::uint32_t program = kProgram);
  hawk_stack_record& record(std::uint32_t stack) { return records_[stack]; }
  void set_location(std::uint32_t number, std::uint64_t address) { locations_[number] = address; }
  hawk_state& state() { return state_; }
  hawk_target& target(std::uint32_t number) { return targets_[number]; }
  const KernelMaps& maps() const { return maps_; }

 private:
  UniqueFd counters_fd_, records_fd_, locations_fd_;
  hawk_counters* counters_;
  hawk_stack_record* records_;
  std::array<__u32, kFrames> frames_ = {};
  __u64* locations_;
  hawk_state state_ = {};
  std::vector<hawk_target> targets_ = std::vector<hawk_target>(4);
  KernelMaps maps_;
};

}  // namespace hawk
