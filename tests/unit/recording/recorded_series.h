#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "userspace/recording/recording.h"
#include "userspace/tables/location_table.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// A heap as a trace sees it, interval by interval: the same numbers in every run.
class RecordedSeries {
 public:
  /// So many stacks, of `depth` frames each, which share their outer ones.
  RecordedSeries(std::size_t stacks, std::size_t depth);

  /// A second later: `active` of the stacks have allocated and freed.
  void advance(std::size_t active);
  /// A stack more than there was, with a number between those that there are.
  void add_stack(std::uint32_t id);
  /// The target has replaced its program.
  void replace_program();

  const Snapshot& snapshot() const { return snapshot_; }
  Snapshot& snapshot() { return snapshot_; }
  RecordedState state() const { return {.snapshot = snapshot_, .mappings = mappings_}; }
  std::vector<CodeMapping>& mappings() { return mappings_; }

 private:
  std::uint32_t random();
  void fill(std::size_t stacks, std::size_t depth);
  void change(StackRecord& stack);

  std::uint32_t seed_ = 1;
  std::size_t next_active_ = 0;
  LocationTable locations_;
  Snapshot snapshot_;
  std::vector<CodeMapping> mappings_;
};

}  // namespace hawk
