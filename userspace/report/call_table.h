#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "symbolizer/symbolizer.h"
#include "userspace/report/frame_list.h"
#include "userspace/report/symbolized_locations.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// Says of a call whether it is hidden: no part of any stack.
using CallPredicate = std::function<bool(const ListedFrame& call)>;

/// The source-level calls at all locations that some stacks pass through. A location is symbolized, and given its role
/// once; the stacks share the result.
class CallTable {
 public:
  /// Asks `symbolizer` for everything at once. `role_of` empty: all calls are the program's; `observer` may be
  /// empty. `is_hidden` empty: no call is hidden.
  CallTable(const Snapshot& snapshot, const std::vector<const StackRecord*>& stacks, Symbolizer& symbolizer,
            const RoleOfFunction& role_of, const LocationCountObserver& observer = {},
            const CallPredicate& is_hidden = {});
  CallTable(const CallTable&) = delete;
  CallTable& operator=(const CallTable&) = delete;

  /// All calls of `stack`, which must be one of those given to the constructor, from the caller of the allocator
  /// outwards; an inlined call stands before the function that it is inlined into, at the same location. A location of
  /// which nothing is known is one call without names. Hidden calls are left out. The calls live as long as the table.
  FrameList list(const StackRecord& stack) const;

  /// The calls at one location that a stack given to the constructor passes through, an inlined one first. None: all
  /// are hidden.
  std::span<const ListedFrame> at(LocationId location) const {
    return std::span(calls_).subspan(range_of(location).first, range_of(location).count);
  }

  /// The call that deciding_frame() of list() is, without the list; nullptr: the stack has no calls.
  const ListedFrame* deciding(const StackRecord& stack) const;
  /// The call that naming_frame() of list() is; nullptr: the stack has no calls.
  const ListedFrame* naming(const StackRecord& stack) const;
  /// Whether any call is_interpreted(): if not, the naming ones are the deciding ones.
  bool has_interpreted() const { return has_interpreted_; }
  /// How many of list() are at the first `locations` of the stack's locations.
  std::size_t count(const StackRecord& stack, std::size_t locations) const;

  /// A number below size() for a call of this table, to keep something about each.
  std::size_t number_of(const ListedFrame& call) const { return static_cast<std::size_t>(&call - calls_.data()); }
  std::size_t size() const { return calls_.size(); }
  /// All calls, by number.
  const std::vector<ListedFrame>& calls() const { return calls_; }

 private:
  struct Range {
    std::size_t first = 0;
    std::size_t count = 0;
  };
  const Range& range_of(LocationId location) const { return ranges_[static_cast<std::size_t>(location)]; }
  std::vector<ListedFrame> calls_;
  std::vector<Range> ranges_;  ///< of calls_, by LocationId
  bool has_interpreted_ = false;
};

}  // namespace hawk
