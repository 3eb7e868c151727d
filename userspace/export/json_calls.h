#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "userspace/report/call_table.h"
#include "userspace/report/frame_list.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// The calls of all stacks as JSON. They are written once: a report repeats a few thousand of them millions of times.
class CallTexts {
 public:
  /// Both must live longer.
  CallTexts(const Snapshot& snapshot, const CallTable& calls);

  /// Whether a call is hidden differs from stack to stack.
  const std::string& frame(const ListedFrame& call, bool is_hidden);
  /// Those of a stack: the elements of a list.
  void append_frames(std::string& out, const FrameList& calls);
  /// The label of a stack of these calls.
  std::string label(const FrameList& calls);

 private:
  const Snapshot& snapshot_;
  const CallTable& calls_;
  std::array<std::vector<std::string>, 2> frames_;  ///< by number, shown and hidden; empty until asked for
  std::vector<std::string> labels_;
};

}  // namespace hawk
