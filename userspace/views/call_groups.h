#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "userspace/report/call_table.h"
#include "userspace/report/frame_list.h"
#include "userspace/tables/selection.h"
#include "userspace/views/grouping.h"
#include "userspace/views/stack_view.h"

namespace hawk {

/// All calls that a report takes for one: of one function, in one file, ... Or all processes or threads that it does.
struct CallGroup {
  const ListedFrame* call = nullptr;    ///< one of them; nullptr: stacks without calls
  const ListedFrame* caller = nullptr;  ///< of GroupKind::kCaller the function that calls it; nullptr: nothing does
  StackSum self;                        ///< stacks whose innermost call is of the group
  StackSum cumulative;                  ///< stacks with any call of the group, each once, however often it recurs
  /// The first of its processes, where groups are of those; `self` and `cumulative` are all that is theirs, then.
  std::shared_ptr<const TargetInfo> target = {};
  std::size_t processes = 0;  ///< how many there are; 0: it is a group of calls
};

/// Sums up `view`. What `self` of all groups adds up to is `view.shown`. Calls that reports fold do not count, unless
/// `with_folded`: the innermost call is then the function that decides on the allocation.
std::vector<CallGroup> group_calls(const StackView& view, const CallTable& calls, const Snapshot& snapshot,
                                   GroupKind kind, bool with_folded);

/// What `selection.sort` says of a group.
std::uint64_t group_value(const CallGroup& group, SortKey sort, bool cumulative);

/// Orders by self, or by cumulative numbers; leaves out what is too small, and all but the first `selection.top`.
void select_groups(std::vector<CallGroup>& groups, const Selection& selection, bool cumulative_first);

/// What a group is called: "Cache::put", "src/cache.cpp", "src/cache.cpp:42", "/usr/lib/libfoo.so", "put < serve".
/// `short_names`: as the report for people shows functions and files.
std::string group_name(const CallGroup& group, GroupKind kind, const Snapshot& snapshot, bool short_names);

/// The text of a row after the name of a group: the file of a function, the function of a line; may be empty.
std::string group_position(const CallGroup& group, GroupKind kind, const Snapshot& snapshot);

/// Of so many: "1 function", "24 modules", "3 processes"; of GroupKind::kCaller "3 pairs of function and caller". With
/// `more`: "5 more lines".
std::string group_count(std::size_t count, GroupKind kind, bool more = false);

}  // namespace hawk
