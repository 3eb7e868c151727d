#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bpf/layout.h"
#include "bpf/probe_points.h"
#include "userspace/base/address_range.h"
#include "userspace/tracer/probe_point_store.h"

namespace hawk {

/// The programs' last look at the probed points of the target, before its memory goes by its end or by an exec. (On
/// kernels before 6.16 that cannot have programs on their functions the memory of a target that ends is gone already.)
class LastLook {
 public:
  /// `target`: mapped memory of the programs. Both must live longer.
  LastLook(hawk_target& target, ProbePointStore& store) : target_(&target), store_(store) {}
  LastLook(LastLook&& other) noexcept;
  LastLook& operator=(LastLook&&) = delete;
  /// The target has no points from then on.
  ~LastLook();

  /// A point that had no breakpoint.
  struct Missing {
    std::size_t number = 0;
    bool is_in_new_code = false;  ///< where code was mapped since, and not at its address, or there as well
    bool operator==(const Missing&) const = default;
  };
  struct Change {
    bool is_made = false;
    std::vector<Missing> seen;  ///< take_missing() of the points before
  };
  /// Sets the points to check from now on, replacing the previous ones. Without room those stay, its own or those that
  /// it has borrowed: the programs know what it maps of the same files. `code`: where these points lie, one range for
  /// each file; anonymous memory that becomes code there is announced as a change of the mappings.
  Change set(std::span<const hawk_probe_point> points, std::span<const AddressRange> code);
  /// Each is reported once.
  std::vector<Missing> take_missing();

 private:
  std::vector<Missing> take_missing_of(std::uint64_t word) const;
  void set_files(std::span<const hawk_probe_point> points);
  void set_ranges(std::span<const AddressRange> code);

  hawk_target* target_;  ///< nullptr: another one has it
  ProbePointStore& store_;
  std::uint64_t own_ = 0;  ///< word of the target's own points
};

}  // namespace hawk
