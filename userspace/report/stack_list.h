#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "userspace/report/call_table.h"
#include "userspace/report/frame_list.h"
#include "userspace/report/quantity.h"
#include "userspace/report/shared_frames.h"
#include "userspace/report/symbol_gaps.h"
#include "userspace/report/text_page.h"
#include "userspace/report/unwind_text.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// The stacks of a report for people, one after the other, each with its numbers and its calls.
class StackList {
 public:
  /// All must outlive the list. Each stack put is added to `gaps`.
  StackList(TextPage& page, const Snapshot& snapshot, const CallTable& calls, const UnwindText& unwind,
            SymbolGaps& gaps);

  /// Puts one of the stacks that `calls` was made for; ranks count from 1.
  void put(std::size_t rank, const StackRecord& record);
  /// Whether frames were folded in what has been put.
  bool folded_any() const { return folded_any_; }

 private:
  void put_headline(std::size_t rank, const StackRecord& record);
  void put_lives(const StackRecord& record);
  /// How many of the outer calls in `listed` stand below a stack that has been put, and below which.
  struct SharedCalls {
    std::size_t rank = 0;
    std::size_t count = 0;
  };
  SharedCalls shared_calls(std::size_t rank, const StackRecord& record, const FrameList& listed);
  void put_call(const ShownFrame& line);
  std::string amount_text(const Counters& counters, Quantity quantity) const;
  std::string frame_line(const ListedFrame& listed, std::size_t times) const;
  std::string full_frame_line(const ListedFrame& listed) const;
  const std::string& end_line(const StackRecord& record);

  TextPage& page_;
  const Snapshot& snapshot_;
  const CallTable& calls_;
  const UnwindText& unwind_;
  SymbolGaps& gaps_;
  SharedFrames shared_;
  // Lines that recur in many stacks.
  std::vector<std::string> call_lines_;  ///< by the call's number; empty until the call is first shown
  std::map<std::pair<std::size_t, std::size_t>, std::string> repeated_lines_;  ///< by number and times
  /// By what left_out_text() looks at.
  std::map<std::tuple<LeftOut, std::size_t, std::size_t, std::size_t>, std::string> left_out_lines_;
  std::map<std::tuple<bool, int, int>, std::optional<std::string>>
      end_lines_;  ///< by what UnwindText::end_mark looks at
  bool folded_any_ = false;
};

}  // namespace hawk
