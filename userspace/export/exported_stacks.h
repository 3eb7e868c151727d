#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "userspace/export/format.h"
#include "userspace/report/call_table.h"
#include "userspace/report/frame_list.h"

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
  /// In the order of the report. At some of their locations no call may be left: see calls_at().
  const std::vector<const StackRecord*>& records() const { return records_; }
  /// The sums over records().
  const Counters& totals() const { return totals_; }

  /// All calls of a stack, from the caller of the allocator outwards; an inlined call stands before the function that
  /// it is inlined into. Never empty: a stack that was not recorded is one call of "[no stack]", and where outer frames
  /// are missing "[truncated stack]" is the outermost.
  FrameList calls(const StackRecord& stack) const;
  /// Those that any of records() passes through and that have calls, ascending.
  const std::vector<LocationId>& locations() const { return locations_; }
  /// The calls at a location of a stack, an inlined one first; none: they are hidden, and it is not one of
  /// locations().
  std::span<const ListedFrame> calls_at(LocationId location) const { return table_.at(location); }
  /// All of them but the two that stand for what is missing, by number.
  const std::vector<ListedFrame>& all_calls() const { return table_.calls(); }
  const ListedFrame& no_stack() const { return no_stack_; }
  const ListedFrame& truncated() const { return truncated_; }
  /// Whether `call` is one of the two which stand for what is missing: it has no location.
  bool is_placeholder(const ListedFrame& call) const { return &call == &no_stack_ || &call == &truncated_; }

  const std::vector<ExportedFunction>& functions() const { return functions_; }
  /// The index of the function that `call` is of, in functions().
  std::size_t function_of(const ListedFrame& call) const {
    if (&call == &no_stack_) return 0;
    if (&call == &truncated_) return 1;
    return function_of_call_[table_.number_of(call)];
  }
  const std::string& name_of(const ListedFrame& call) const { return functions_[function_of(call)].name; }

  /// A number below call_count() for each call, to keep something about it.
  std::size_t number_of(const ListedFrame& call) const {
    return is_placeholder(call) ? table_.size() + function_of(call) : table_.number_of(call);
  }
  std::size_t call_count() const { return table_.size() + 2; }
  /// The call of a number.
  const ListedFrame& call(std::size_t number) const {
    if (number < table_.size()) return table_.calls()[number];
    return number == table_.size() ? no_stack_ : truncated_;
  }

 private:
  const Snapshot& snapshot_;
  std::vector<const StackRecord*> records_;
  CallTable table_;
  std::vector<LocationId> locations_;
  Counters totals_;
  ListedFrame no_stack_;
  ListedFrame truncated_;
  std::vector<ExportedFunction> functions_;
  std::vector<std::uint32_t> function_of_call_;  ///< by number in the table
};

/// The address that tools look a call up by: of an instruction of the call itself, not of the one behind it.
inline std::uint64_t call_address(const Location& location) {
  return location.address - (location.interrupted || location.address == 0 ? 0 : 1);
}

/// One line on where the numbers come from and whether they are exact: "hawktrace 0.1.0: shop (pid 42), traced for
/// 10.0 s: exact"; and what it is narrowed down by.
std::string origin_line(const ReportRequest& request);

/// Each cause of loss that occurred, a line without its end: "lost_calls: 7". Empty: nothing was missed.
std::vector<std::string> loss_lines(const Snapshot& snapshot);

}  // namespace hawk
