#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "symbolizer/interval_index.h"
#include "symbolizer/line_table.h"
#include "symbolizer/unit_reader.h"

namespace hawk {

/// A compilation unit, with an index of its functions made at the first question, and for each function that is asked
/// for an index of the calls inlined into it. So the cost follows the addresses asked, not the size of the debug
/// information.
///
/// Input is not trusted: a walk only goes forward through the bytes of the unit, so it ends.
class DwarfUnit {
 public:
  /// A function, or a call inlined into one.
  struct Scope {
    std::uint64_t entry = 0;  ///< offset in .debug_info
    std::uint64_t origin =
        0;  ///< the entry of this unit that describes an inlined function once for all its calls; 0: none
    bool inlined = false;
    std::uint64_t call_file = 0;  ///< for an inlined call: where it stands; 0 is a file since version 5
    std::uint32_t call_line = 0;
    bool has_call_file = false;
  };

  /// `sections` and `info` must outlive the unit.
  DwarfUnit(const DebugSections& sections, InfoSection& info, const UnitHeader& header);

  const UnitReader& reader() const { return reader_; }
  /// The scopes around `address`: innermost inlined call first, the function itself last. Empty when no function of
  /// this unit contains it.
  std::vector<Scope> chain_at(std::uint64_t address);
  /// Adds the ranges of the unit itself to `index`, or those of its functions when the unit names none.
  void add_unit_ranges(std::uint32_t value, IntervalIndex& index);
  /// The row of the line table that covers `address`.
  LineTable::Place place_at(std::uint64_t address) { return lines().find(address); }
  /// The path of a file of the unit; "" when unknown.
  std::string file_path(std::uint64_t file) { return lines().file_path(file); }
  /// Entries that hold the entry at `entry` and give it a scope: innermost first.
  std::vector<std::uint64_t> scopes_around(std::uint64_t entry);
  std::size_t memory_bytes() const;

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  /// Offsets are from the unit's start, to save memory.
  struct Container {
    std::uint32_t begin;
    std::uint32_t end;
    std::uint32_t parent;  ///< index of the container around it; kNone: the unit
  };
  struct InlinedCall {
    Scope scope;
    std::uint32_t parent;  ///< index of the call that this one is inlined into; kNone: the function itself
  };
  struct Calls {
    std::vector<InlinedCall> calls{};
    IntervalIndex ranges{};
  };
  /// An entry whose children are being walked.
  struct Open {
    std::uint32_t container;  ///< index, or kNone when it gives no scope
    bool holds_functions;
  };

  void index_functions();
  void open_entry(const Entry& entry, std::vector<Open>& open);
  void close_entry(std::uint64_t end, std::vector<Open>& open);
  const Calls& calls_of(std::uint32_t function);
  Scope scope_of(const Entry& entry) const;
  LineTable& lines();

  UnitReader reader_;
  bool indexed_ = false;
  std::vector<std::uint32_t> functions_;  ///< offsets from the unit's start
  IntervalIndex function_ranges_;
  std::vector<Container> containers_;  ///< by begin
  std::unordered_map<std::uint32_t, Calls> calls_;
  std::size_t call_bytes_ = 0;
  std::optional<LineTable> lines_;
};

}  // namespace hawk
