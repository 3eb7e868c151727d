#include "symbolizer/dwarf_unit.h"

#include <dwarf.h>

#include <algorithm>

#include "symbolizer/address_ranges.h"
#include "symbolizer/entry_walk.h"
#include "symbolizer/line_header.h"

namespace hawk {
namespace {

/// Entries that give the functions in them a scope, by their name.
bool is_scope(int tag) {
  switch (tag) {
    case DW_TAG_subprogram:
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
    case DW_TAG_enumeration_type:  // Rust: methods of an enum
      return true;
    default:
      return false;
  }
}

/// Entries that functions can lie in. Functions too: GNU C nests them, and methods of local classes.
bool may_hold_functions(int tag) {
  switch (tag) {
    case DW_TAG_lexical_block:
    case DW_TAG_interface_type:
    case DW_TAG_variant_part:
    case DW_TAG_variant:
    case DW_TAG_imported_unit:  // what dwz made of a unit
      return true;
    default:
      return is_scope(tag);
  }
}

/// Entries of a function's body that inlined calls can lie in.
bool may_hold_calls(int tag) {
  switch (tag) {
    case DW_TAG_inlined_subroutine:
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
    case DW_TAG_with_stmt:
      return true;
    default:
      return false;
  }
}

std::string_view file_name(const char* name) {
  // libdw calls a file that the table does not name "???".
  const std::string_view text = name == nullptr ? std::string_view{} : name;
  return text == "???" ? std::string_view{} : text;
}

}  // namespace

DwarfUnit::DwarfUnit(const DwarfFile& file, std::uint32_t number, SplitFiles* split)
    : line_section_(file.line_section()), split_files_(split) {
  const UnitSpan& span = file.units()[number];
  if (dwarf_offdie(file.dwarf(), span.first_entry, &own_entry_) == nullptr) {
    own_entry_ = {};
    return;
  }
  body_ = own_entry_;
  end_ = static_cast<Address>(own_entry_.addr) + (span.end - span.first_entry);
}

void DwarfUnit::find_split_half() {
  std::optional<SplitUnit> half = split_files_ == nullptr ? std::nullopt : split_files_->find(&own_entry_);
  if (!half) return;
  body_ = half->entry;
  end_ = half->addresses.unit_end;
  split_addresses_ = half->addresses;
}

bool DwarfUnit::add_code_of(Dwarf_Die* entry, std::uint32_t value, IntervalIndex& index) const {
  return split_addresses_ ? add_split_ranges(entry, *split_addresses_, value, index) : add_ranges(entry, value, index);
}

Dwarf_Die DwarfUnit::entry_at(Address address) const {
  Dwarf_Die entry{};
  entry.addr = const_cast<std::uint8_t*>(address);
  entry.cu = body_.cu;
  return entry;
}

void DwarfUnit::index_functions() {
  if (indexed_) return;
  indexed_ = true;
  if (own_entry_.addr == nullptr) return;
  find_split_half();
  std::vector<Open> open;
  EntryWalk walk(&body_, end_);
  while (walk.next()) {
    Dwarf_Die* entry = walk.entry();
    for (std::size_t i = 0; i < walk.closed_count(); ++i) close_entry(static_cast<Address>(entry->addr), open);
    const int tag = dwarf_tag(entry);
    if (tag == DW_TAG_subprogram) {
      if (!open.empty()) open.back().holds_functions = true;
      const std::uint32_t index = static_cast<std::uint32_t>(functions_.size());
      if (add_code_of(entry, index, function_ranges_)) functions_.push_back(static_cast<Address>(entry->addr));
    }
    if (walk.enter(may_hold_functions(tag))) open_entry(*entry, tag, open);
  }
  while (!open.empty()) close_entry(end_, open);
  functions_.shrink_to_fit();
  containers_.shrink_to_fit();
  function_ranges_.seal();
}

void DwarfUnit::open_entry(const Dwarf_Die& entry, int tag, std::vector<Open>& open) {
  if (!is_scope(tag)) {
    open.push_back({kNone, false});
    return;
  }
  std::uint32_t parent = kNone;
  for (auto around = open.rbegin(); around != open.rend() && parent == kNone; ++around) parent = around->container;
  open.push_back({static_cast<std::uint32_t>(containers_.size()), false});
  containers_.push_back({static_cast<Address>(entry.addr), nullptr, parent});
}

void DwarfUnit::close_entry(Address end, std::vector<Open>& open) {
  const Open closed = open.back();
  open.pop_back();
  if (closed.holds_functions && !open.empty()) open.back().holds_functions = true;
  if (closed.container == kNone) return;
  // Most functions and classes hold no functions: they are not asked for.
  if (!closed.holds_functions) {
    containers_.resize(closed.container);
  } else {
    containers_[closed.container].end = end;
  }
}

std::vector<Dwarf_Die> DwarfUnit::scopes_around(const Dwarf_Die& entry) {
  index_functions();
  const Address address = static_cast<Address>(entry.addr);
  std::vector<Dwarf_Die> scopes;
  const auto after = std::lower_bound(containers_.begin(), containers_.end(), address,
                                      [](const Container& container, Address at) { return container.begin < at; });
  if (after == containers_.begin()) return scopes;
  std::uint32_t index = static_cast<std::uint32_t>(after - containers_.begin() - 1);
  for (; index != kNone; index = containers_[index].parent) {
    if (address < containers_[index].end) scopes.push_back(entry_at(containers_[index].begin));
  }
  return scopes;
}

const DwarfUnit::Calls& DwarfUnit::calls_of(std::uint32_t function) {
  const auto [found, is_new] = calls_.try_emplace(function);
  Calls& calls = found->second;
  if (!is_new) return calls;
  Dwarf_Die entry = entry_at(functions_[function]);
  std::vector<std::uint32_t> open{kNone};  // for each open list of children: the call around it
  EntryWalk walk(&entry, end_);
  while (walk.next()) {
    open.resize(open.size() - walk.closed_count());
    std::uint32_t around = open.back();
    const int tag = dwarf_tag(walk.entry());
    if (tag == DW_TAG_inlined_subroutine) {
      // Without code of its own it stays as a link between its parent and its children.
      const std::uint32_t index = static_cast<std::uint32_t>(calls.calls.size());
      add_code_of(walk.entry(), index, calls.ranges);
      calls.calls.push_back({*walk.entry(), around});
      around = index;
    }
    if (walk.enter(may_hold_calls(tag))) open.push_back(around);
  }
  calls.ranges.seal();
  calls.calls.shrink_to_fit();
  constexpr std::size_t kNodeBytes = sizeof(Calls) + 4 * sizeof(void*);
  call_bytes_ += kNodeBytes + calls.calls.capacity() * sizeof(InlinedCall) + calls.ranges.memory_bytes();
  return calls;
}

std::vector<DwarfUnit::Scope> DwarfUnit::chain_at(std::uint64_t address) {
  index_functions();
  const std::optional<std::uint32_t> found = function_ranges_.find(address);
  if (!found) return {};
  const Calls& function = calls_of(*found);
  std::vector<Scope> chain;
  std::uint32_t call = function.ranges.find(address).value_or(kNone);
  for (; call != kNone; call = function.calls[call].parent) chain.push_back({function.calls[call].entry, true});
  chain.push_back({entry_at(functions_[*found]), false});
  return chain;
}

void DwarfUnit::add_unit_ranges(std::uint32_t value, IntervalIndex& index) {
  if (own_entry_.addr == nullptr) return;
  // Partial and type units hold no code: what they describe is reached by reference.
  const int tag = dwarf_tag(&own_entry_);
  if (tag != DW_TAG_compile_unit && tag != DW_TAG_skeleton_unit) return;
  if (add_ranges(&own_entry_, value, index)) return;
  index_functions();
  for (const Address function : functions_) {
    Dwarf_Die entry = entry_at(function);
    add_code_of(&entry, value, index);
  }
}

std::string_view DwarfUnit::directory() {
  if (directory_) return *directory_;
  Dwarf_Attribute attribute;
  const char* name = dwarf_formstring(dwarf_attr(&own_entry_, DW_AT_comp_dir, &attribute));
  directory_ = name != nullptr && name[0] == '/' ? std::string_view(name) : std::string_view{};
  return *directory_;
}

bool DwarfUnit::has_lines() {
  if (has_lines_) return *has_lines_;
  Dwarf_Lines* rows = nullptr;
  has_lines_ = own_entry_.addr != nullptr && line_header_is_sound(&own_entry_, line_section_) &&
               dwarf_getsrclines(&own_entry_, &rows, &row_count_) == 0 &&
               dwarf_getsrcfiles(&own_entry_, &files_, &file_count_) == 0;
  return *has_lines_;
}

DwarfUnit::SourceLine DwarfUnit::line_at(std::uint64_t address) {
  if (!has_lines()) return {};
  Dwarf_Line* row = dwarf_getsrc_die(&own_entry_, address);
  SourceLine source;
  int line = 0;
  if (row == nullptr) return source;
  if (dwarf_lineno(row, &line) == 0 && line > 0) source.line = static_cast<std::uint32_t>(line);
  source.file = file_name(dwarf_linesrc(row, nullptr, nullptr));
  return source;
}

DwarfUnit::SourceLine DwarfUnit::line_of_call(Dwarf_Die* call) {
  Dwarf_Attribute attribute;
  Dwarf_Word number = 0;
  SourceLine source;
  if (dwarf_formudata(dwarf_attr(call, DW_AT_call_line, &attribute), &number) == 0 && number <= UINT32_MAX) {
    source.line = static_cast<std::uint32_t>(number);
  }
  if (dwarf_formudata(dwarf_attr(call, DW_AT_call_file, &attribute), &number) == 0 && has_lines() &&
      number < file_count_) {
    source.file = file_name(dwarf_filesrc(files_, number, nullptr, nullptr));
  }
  return source;
}

std::size_t DwarfUnit::memory_bytes() const {
  // What libdw takes for a row; for a file, about: a record, its path, and the paths of its directory.
  constexpr std::size_t kRowBytes = 56;
  constexpr std::size_t kFileBytes = 160;
  return sizeof *this + functions_.capacity() * sizeof(Address) + function_ranges_.memory_bytes() +
         containers_.capacity() * sizeof(Container) + call_bytes_ + row_count_ * kRowBytes + file_count_ * kFileBytes;
}

}  // namespace hawk
