#include "symbolizer/dwarf_unit.h"

#include <dwarf.h>

#include <string_view>

#include "symbolizer/line_header.h"

namespace hawk {
namespace {

constexpr int kDeepestNesting = 256;
/// More pieces than any compiler splits one function or unit into; a bound for damaged range lists.
constexpr std::size_t kMostRangesOfOneEntry = 1 << 20;

/// Entries that functions with code can lie in. Functions too: GNU C nests them, and methods of local classes.
bool may_hold_functions(int tag) {
  switch (tag) {
    case DW_TAG_subprogram:
    case DW_TAG_lexical_block:
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
    case DW_TAG_interface_type:
    case DW_TAG_enumeration_type:  // Rust: methods of an enum
    case DW_TAG_variant_part:
    case DW_TAG_variant:
      return true;
    default:
      return false;
  }
}

/// Entries of a function's body that inlined calls can lie in.
bool may_hold_calls(int tag) {
  switch (tag) {
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
    case DW_TAG_with_stmt:
      return true;
    default:
      return false;
  }
}

std::string file_name(const char* name) {
  // libdw calls a file that the table does not name "???".
  if (name == nullptr || std::string_view(name) == "???") return {};
  return name;
}

}  // namespace

bool add_ranges(Dwarf_Die* die, std::uint32_t value, IntervalIndex& index) {
  const std::size_t before = index.added_count();
  Dwarf_Addr base = 0;
  Dwarf_Addr low = 0;
  Dwarf_Addr high = 0;
  ptrdiff_t next = 0;
  std::size_t count = 0;
  while (count++ < kMostRangesOfOneEntry && (next = dwarf_ranges(die, next, &base, &low, &high)) > 0) {
    index.add(low, high, value);
  }
  return index.added_count() > before;
}

bool DwarfUnit::take_from_budget() {
  if (budget_ == 0) return false;
  --budget_;
  return true;
}

void DwarfUnit::index_functions() {
  if (indexed_) return;
  indexed_ = true;
  budget_ = size_bytes_;
  collect_functions(&die_, 0);
  function_ranges_.seal();
}

void DwarfUnit::collect_functions(Dwarf_Die* parent, int depth) {
  Dwarf_Die child;
  if (depth > kDeepestNesting || dwarf_child(parent, &child) != 0) return;
  do {
    if (!take_from_budget()) return;
    const int tag = dwarf_tag(&child);
    if (tag == DW_TAG_subprogram &&
        add_ranges(&child, static_cast<std::uint32_t>(functions_.size()), function_ranges_)) {
      functions_.push_back({.die = child});
    }
    if (may_hold_functions(tag)) collect_functions(&child, depth + 1);
  } while (dwarf_siblingof(&child, &child) == 0);
}

void DwarfUnit::index_calls(Function& function) {
  if (function.indexed) return;
  function.indexed = true;
  budget_ = size_bytes_;
  collect_calls(function, &function.die, kNoParent, 0);
  function.call_ranges.seal();
}

void DwarfUnit::collect_calls(Function& function, Dwarf_Die* parent, std::uint32_t call, int depth) {
  Dwarf_Die child;
  if (depth > kDeepestNesting || dwarf_child(parent, &child) != 0) return;
  do {
    if (!take_from_budget()) return;
    const int tag = dwarf_tag(&child);
    if (tag == DW_TAG_inlined_subroutine) {
      const std::uint32_t index = static_cast<std::uint32_t>(function.calls.size());
      // Without code of its own it stays as a link between its parent and its children.
      add_ranges(&child, index, function.call_ranges);
      function.calls.push_back({child, call});
      collect_calls(function, &child, index, depth + 1);
    } else if (may_hold_calls(tag)) {
      collect_calls(function, &child, call, depth + 1);
    }
  } while (dwarf_siblingof(&child, &child) == 0);
}

std::vector<Dwarf_Die> DwarfUnit::chain_at(std::uint64_t address) {
  index_functions();
  const std::optional<std::uint32_t> found = function_ranges_.find(address);
  if (!found) return {};
  Function& function = functions_[*found];
  index_calls(function);
  std::vector<Dwarf_Die> chain;
  std::uint32_t call = function.call_ranges.find(address).value_or(kNoParent);
  for (; call != kNoParent; call = function.calls[call].parent) chain.push_back(function.calls[call].die);
  chain.push_back(function.die);
  return chain;
}

void DwarfUnit::add_unit_ranges(std::uint32_t value, IntervalIndex& index) {
  if (add_ranges(&die_, value, index)) return;
  index_functions();
  for (Function& function : functions_) add_ranges(&function.die, value, index);
}

bool DwarfUnit::has_lines() {
  if (!has_lines_) has_lines_ = line_header_is_sound(&die_);
  return *has_lines_;
}

std::string DwarfUnit::source_line(std::uint64_t address, std::uint32_t* line) {
  *line = 0;
  if (!has_lines()) return {};
  Dwarf_Line* row = dwarf_getsrc_die(&die_, address);
  int number = 0;
  if (row == nullptr) return {};
  if (dwarf_lineno(row, &number) == 0 && number > 0) *line = static_cast<std::uint32_t>(number);
  return file_name(dwarf_linesrc(row, nullptr, nullptr));
}

std::string DwarfUnit::call_file(Dwarf_Die* die) {
  Dwarf_Attribute attribute;
  Dwarf_Word index = 0;
  if (dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &attribute), &index) != 0 || !has_lines()) return {};
  Dwarf_Files* files = nullptr;
  std::size_t count = 0;
  if (dwarf_getsrcfiles(&die_, &files, &count) != 0 || index >= count) return {};
  return file_name(dwarf_filesrc(files, index, nullptr, nullptr));
}

}  // namespace hawk
