#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "symbolizer/interval_index.h"

namespace hawk {

/// Adds the address ranges of `die` (DW_AT_ranges, or DW_AT_low_pc with DW_AT_high_pc) to `index` under `value`.
/// Returns whether it has any.
bool add_ranges(Dwarf_Die* die, std::uint32_t value, IntervalIndex& index);

/// A compilation unit, with an index of its functions made at the first question, and for each function that is asked
/// for an index of the calls inlined into it. So the cost follows the addresses asked, not the size of the debug
/// information.
///
/// Input is not trusted: depth and number of entries walked are bounded (an entry takes a byte at least; crossed
/// sibling links could otherwise make a walk exponential).
class DwarfUnit {
 public:
  /// `size_bytes`: length of the unit in .debug_info.
  DwarfUnit(const Dwarf_Die& die, std::uint64_t size_bytes) : die_(die), size_bytes_(size_bytes) {}

  /// The unit's own entry.
  Dwarf_Die* die() { return &die_; }
  /// The entries around `address`: innermost inlined call first, the function itself last. Empty when no function of
  /// this unit contains it.
  std::vector<Dwarf_Die> chain_at(std::uint64_t address);
  /// Adds the ranges of the unit itself to `index`, or those of its functions when the unit names none.
  void add_unit_ranges(std::uint32_t value, IntervalIndex& index);
  /// "file" and line of the row of the line table that covers `address`; "" and 0 when none does.
  std::string source_line(std::uint64_t address, std::uint32_t* line);
  /// The file that `die`, of this unit, was called from; "" when unknown.
  std::string call_file(Dwarf_Die* die);

 private:
  static constexpr std::uint32_t kNoParent = UINT32_MAX;

  /// A call inlined into a function.
  struct InlinedCall {
    Dwarf_Die die;
    std::uint32_t parent;  ///< index of the call that this one is inlined into; kNoParent: the function itself
  };
  struct Function {
    Dwarf_Die die;
    bool indexed = false;
    std::vector<InlinedCall> calls{};
    IntervalIndex call_ranges{};
  };
  void index_functions();
  void collect_functions(Dwarf_Die* parent, int depth);
  void index_calls(Function& function);
  void collect_calls(Function& function, Dwarf_Die* parent, std::uint32_t call, int depth);
  bool take_from_budget();
  bool has_lines();

  Dwarf_Die die_;
  std::uint64_t size_bytes_;
  std::uint64_t budget_ = 0;  ///< entries that the current walk may still visit
  bool indexed_ = false;
  std::optional<bool> has_lines_;  ///< nullopt: not asked yet
  std::vector<Function> functions_;
  IntervalIndex function_ranges_;
};

}  // namespace hawk
