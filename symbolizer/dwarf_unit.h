#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "symbolizer/dwarf_file.h"
#include "symbolizer/interval_index.h"
#include "symbolizer/split_files.h"

namespace hawk {

/// A compilation unit, with an index of its functions made at the first question, and for each function that is asked
/// for an index of the calls inlined into it. So the cost follows the addresses asked, not the size of the debug
/// information.
class DwarfUnit {
 public:
  /// A function, or a call inlined into one.
  struct Scope {
    Dwarf_Die entry{};
    bool inlined = false;
  };
  /// A line of the source. File "" and line 0: unknown.
  struct SourceLine {
    std::string_view file;  ///< may be relative to directory()
    std::uint32_t line = 0;
  };

  /// Unit number `number` of `file`, and its half in one of `split`, which may be null. Both must outlive this and be
  /// neither renewed nor dropped.
  DwarfUnit(const DwarfFile& file, std::uint32_t number, SplitFiles* split);

  /// The scopes around `address`: innermost inlined call first, the function itself last. Empty when no function of
  /// this unit contains it.
  std::vector<Scope> chain_at(std::uint64_t address);
  /// Adds the ranges of the unit itself to `index`, or those of its functions when the unit names none.
  void add_unit_ranges(std::uint32_t value, IntervalIndex& index);
  /// The row of the line table that covers `address`.
  SourceLine line_at(std::uint64_t address);
  /// Where `call`, an inlined one of this unit, stands.
  SourceLine line_of_call(Dwarf_Die* call);
  /// The directory that the compiler ran in, if it is known; "" too when it is relative: -fdebug-prefix-map has made it
  /// so then, and the paths of files besides, which do not build on it.
  std::string_view directory();
  /// Entries that hold `entry`, of this unit, and give it a scope: innermost first.
  std::vector<Dwarf_Die> scopes_around(const Dwarf_Die& entry);
  /// Whether `entry` is one of this unit.
  bool holds(const Dwarf_Die& entry) const { return body_.addr != nullptr && entry.cu == body_.cu; }
  /// About what it takes, with what libdw keeps for it.
  std::size_t memory_bytes() const;

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  using Address = const std::uint8_t*;  ///< of an entry, as Dwarf_Die::addr is one

  struct Container {
    Address begin;
    Address end;
    std::uint32_t parent;  ///< index of the container around it; kNone: the unit
  };
  struct InlinedCall {
    Dwarf_Die entry;
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

  Dwarf_Die entry_at(Address address) const;
  bool add_code_of(Dwarf_Die* entry, std::uint32_t value, IntervalIndex& index) const;
  void find_split_half();
  void index_functions();
  void open_entry(const Dwarf_Die& entry, int tag, std::vector<Open>& open);
  void close_entry(Address end, std::vector<Open>& open);
  const Calls& calls_of(std::uint32_t function);
  bool has_lines();

  Bytes line_section_;
  SplitFiles* split_files_;
  Dwarf_Die own_entry_{};
  Dwarf_Die body_{};  ///< the entry that functions are below: the unit's own, or that of its split half
  Address end_ = nullptr;
  std::optional<SplitAddresses> split_addresses_;  ///< of functions that are below that of a split half
  bool indexed_ = false;
  std::vector<Address> functions_;
  IntervalIndex function_ranges_;
  std::vector<Container> containers_;  ///< by begin
  std::unordered_map<std::uint32_t, Calls> calls_;
  std::size_t call_bytes_ = 0;
  std::optional<std::string_view> directory_;  ///< nullopt: not asked yet
  std::optional<bool> has_lines_;              ///< nullopt: not asked yet
  Dwarf_Files* files_ = nullptr;
  std::size_t file_count_ = 0;
  std::size_t row_count_ = 0;
};

}  // namespace hawk
