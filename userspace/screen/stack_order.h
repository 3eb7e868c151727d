#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "symbolizer/symbolizer.h"
#include "userspace/report/frame_list.h"
#include "userspace/screen/moment.h"
#include "userspace/screen/sort.h"
#include "userspace/screen/stack_filter.h"
#include "userspace/tables/selection.h"

namespace hawk {

/// Which stacks the list holds, and in which order.
class StackOrder {
 public:
  /// `top`: no more stacks than that (0: any number). `min_size_bytes`: none with less of what quantity_of() the order
  /// is about.
  StackOrder(RoleOfFunction role_of, std::size_t top, std::uint64_t min_size_bytes)
      : role_of_(std::move(role_of)), top_(top), min_size_bytes_(min_size_bytes) {}

  /// Takes the stacks of `moment` that match `filter`. Held, stacks keep their order while their numbers change, and
  /// new ones come last; otherwise the list is sorted anew, `wanted` stacks of it.
  void update(const Moment& moment, Symbolizer& symbolizer, StackFilter& filter, ScreenSort sort, bool held,
              std::size_t wanted);
  /// To be called when numbers of stacks get another meaning.
  void forget();

  /// In order; at least the first of size() that were wanted, all of them when held.
  const std::vector<StackId>& order() const { return order_; }
  /// Stacks that belong to the list.
  std::size_t size() const { return size_; }

 private:
  LeadingStacks members(const Moment& moment, ScreenSort sort, std::size_t wanted) const;
  std::vector<const StackRecord*> sorted(std::vector<ValuedStack> members, const Moment& moment, Symbolizer& symbolizer,
                                         ScreenSort sort, std::size_t wanted);
  void know_labels(const std::vector<const StackRecord*>& stacks, const Snapshot& now, Symbolizer& symbolizer);
  void keep_ranks(std::vector<const StackRecord*>& stacks, const Snapshot& now);

  RoleOfFunction role_of_;
  std::size_t top_;
  std::uint64_t min_size_bytes_;
  std::vector<StackId> order_;
  std::size_t size_ = 0;
  std::unordered_map<StackId, std::string> labels_;  ///< what to sort by kFunction by
};

}  // namespace hawk
