#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "userspace/export/format.h"
#include "userspace/export/numbered_paths.h"
#include "userspace/report/call_table.h"
#include "userspace/report/frame_list.h"
#include "userspace/views/target_groups.h"

namespace hawk {

/// A function that calls are of. Calls of one name in one file are of one function.
struct ExportedFunction {
  std::string name;  ///< of a call without a function: where it is
  std::string file;  ///< empty: unknown
  bool operator==(const ExportedFunction&) const = default;
};

/// What formats for other tools write: the stacks that a report shows, with their calls. Names are made safe here, once
/// for all formats: valid UTF-8 without control characters. What else a format's syntax needs is its own business.
class ExportedStacks {
 public:
  /// How functions are called.
  enum class Names {
    kWhole,  ///< as the debug information has them
    kShort,  ///< as the report has them, unless that was asked to shorten nothing
  };

  /// Looks up all symbols.
  ExportedStacks(const ReportRequest& request, Names names);
  ExportedStacks(const ExportedStacks&) = delete;
  ExportedStacks& operator=(const ExportedStacks&) = delete;

  const Snapshot& snapshot() const { return snapshot_; }
  /// With Grouping::split_by() a record for each group of processes that has the stack, with their counters. In the
  /// order of the report. At some of their locations no call may be left: see calls_at().
  const std::vector<const StackRecord*>& records() const { return records_; }
  /// Indices in records(), by the numbers of stacks.
  std::vector<std::size_t> by_number() const;
  /// The sums over records().
  const Counters& totals() const { return totals_; }

  /// All calls of a stack, from the caller of the allocator outwards; an inlined call stands before the function that
  /// it is inlined into. Never empty: a stack that was not recorded is one call of "[no stack]", and where outer frames
  /// are missing "[truncated stack]" is the outermost. With Grouping::split_by() the processes are, behind that.
  /// `stack`: one of records().
  FrameList calls(const StackRecord& stack) const;
  /// The last of them, which have no location; in their order.
  FrameList placeholders_of(const StackRecord& stack) const;
  /// What of a record is of which process; of a single process all is.
  std::vector<StackShare> shares_of(const StackRecord& stack) const;
  /// Those that any of records() passes through and that have calls, ascending.
  const std::vector<LocationId>& locations() const { return locations_; }
  /// The calls at a location of a stack, an inlined one first; none: they are hidden, and it is not one of
  /// locations().
  std::span<const ListedFrame> calls_at(LocationId location) const { return table_.at(location); }
  /// Adds the stack's locations that have calls to the last path, from the outermost inwards.
  void push_locations(const StackRecord& stack, NumberedPaths& paths) const;
  /// All of them but those without a location, by number.
  const std::vector<ListedFrame>& all_calls() const { return table_.calls(); }
  /// The calls that have no location: the two that stand for what is missing, and those that stand for processes. Their
  /// functions are the first ones, in the same order.
  const std::vector<ListedFrame>& placeholders() const { return placeholders_; }
  bool is_placeholder(const ListedFrame& call) const {
    return !std::less<>()(&call, placeholders_.data()) &&
           std::less<>()(&call, placeholders_.data() + placeholders_.size());
  }

  const std::vector<ExportedFunction>& functions() const { return functions_; }
  /// The index of the function that `call` is of, in functions().
  std::size_t function_of(const ListedFrame& call) const {
    if (is_placeholder(call)) return static_cast<std::size_t>(&call - placeholders_.data());
    return function_of_call_[table_.number_of(call)];
  }
  const std::string& name_of(const ListedFrame& call) const { return functions_[function_of(call)].name; }

  /// A number below call_count() for each call, to keep something about it.
  std::size_t number_of(const ListedFrame& call) const {
    return is_placeholder(call) ? table_.size() + function_of(call) : table_.number_of(call);
  }
  std::size_t call_count() const { return table_.size() + placeholders_.size(); }
  /// The call of a number.
  const ListedFrame& call(std::size_t number) const {
    return number < table_.size() ? table_.calls()[number] : placeholders_[number - table_.size()];
  }

 private:
  static constexpr std::size_t kNoStackCall = 0;
  static constexpr std::size_t kTruncatedCall = 1;
  static constexpr std::size_t kFirstGroupCall = 2;
  void split(GroupKind kind);
  void append_placeholders(FrameList& calls, const StackRecord& stack, bool has_calls) const;
  std::size_t group_of(const StackRecord& stack) const {
    return group_of_[static_cast<std::size_t>(&stack - split_.data())];
  }

  const Snapshot& snapshot_;
  std::vector<const StackRecord*> records_;
  CallTable table_;
  std::vector<LocationId> locations_;
  Counters totals_;
  std::optional<TargetGroups> groups_;
  std::vector<StackRecord> split_;     ///< by groups: what records_ are of, then
  std::vector<std::size_t> group_of_;  ///< by index in split_
  std::vector<ListedFrame> placeholders_;
  std::vector<ExportedFunction> functions_;
  std::vector<std::uint32_t> function_of_call_;  ///< by number in the table
};

/// The address by which tools look up a call: that of the call instruction itself, not of the one after it.
inline std::uint64_t call_address(const Location& location) {
  return location.address - (location.interrupted || location.address == 0 ? 0 : 1);
}

/// One line on where the numbers come from and whether they are exact: "hawktrace 0.1.0: shop (pid 42), traced for
/// 10.0 s: exact"; and what it is narrowed down by.
std::string origin_line(const ReportRequest& request);

/// What was run: the executable of the process, or of several what they are.
std::string command_text(const Snapshot& snapshot);

/// Each cause of loss that occurred, a line without its end: "lost_calls: 7". Empty: nothing was missed.
std::vector<std::string> loss_lines(const Snapshot& snapshot);

}  // namespace hawk
