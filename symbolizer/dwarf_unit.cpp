#include "symbolizer/dwarf_unit.h"

#include <dwarf.h>

#include <algorithm>

#include "symbolizer/address_ranges.h"

namespace hawk {
namespace {

constexpr std::size_t kDeepestNesting = 256;

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

}  // namespace

DwarfUnit::DwarfUnit(const DebugSections& sections, InfoSection& info, const UnitHeader& header)
    : reader_(sections, info, header) {}

void DwarfUnit::index_functions() {
  if (indexed_) return;
  indexed_ = true;
  const Entry& own = reader_.own_entry();
  if (own.tag == 0 || !own.has_children || reader_.header().end - reader_.header().offset > UINT32_MAX) return;
  std::vector<Open> open;
  Entry entry;
  for (std::uint64_t offset = own.next; reader_.read(offset, entry);) {
    offset = entry.next;
    if (entry.tag == 0) {
      if (open.empty()) break;
      close_entry(offset, open);
      continue;
    }
    if (entry.tag == DW_TAG_subprogram) {
      if (!open.empty()) open.back().holds_functions = true;
      const std::uint32_t index = static_cast<std::uint32_t>(functions_.size());
      if (add_ranges(reader_, entry, index, function_ranges_)) {
        functions_.push_back(static_cast<std::uint32_t>(entry.offset - reader_.header().offset));
      }
    }
    if (!entry.has_children) continue;
    if (may_hold_functions(entry.tag) && open.size() < kDeepestNesting) {
      open_entry(entry, open);
    } else {
      offset = reader_.after(entry);
    }
  }
  while (!open.empty()) close_entry(reader_.header().end, open);
  functions_.shrink_to_fit();
  containers_.shrink_to_fit();
  function_ranges_.seal();
}

void DwarfUnit::open_entry(const Entry& entry, std::vector<Open>& open) {
  if (!is_scope(entry.tag)) {
    open.push_back({kNone, false});
    return;
  }
  std::uint32_t parent = kNone;
  for (auto around = open.rbegin(); around != open.rend() && parent == kNone; ++around) parent = around->container;
  open.push_back({static_cast<std::uint32_t>(containers_.size()), false});
  containers_.push_back({static_cast<std::uint32_t>(entry.offset - reader_.header().offset), 0, parent});
}

void DwarfUnit::close_entry(std::uint64_t end, std::vector<Open>& open) {
  const Open closed = open.back();
  open.pop_back();
  if (closed.holds_functions && !open.empty()) open.back().holds_functions = true;
  if (closed.container == kNone) return;
  // Most functions and classes hold no functions: nobody will ask for them.
  if (!closed.holds_functions) {
    containers_.resize(closed.container);
  } else {
    containers_[closed.container].end = static_cast<std::uint32_t>(end - reader_.header().offset);
  }
}

std::vector<std::uint64_t> DwarfUnit::scopes_around(std::uint64_t entry) {
  index_functions();
  const std::uint64_t start = reader_.header().offset;
  std::vector<std::uint64_t> scopes;
  const auto after = std::lower_bound(
      containers_.begin(), containers_.end(), entry,
      [start](const Container& container, std::uint64_t offset) { return start + container.begin < offset; });
  if (after == containers_.begin()) return scopes;
  std::uint32_t index = static_cast<std::uint32_t>(after - containers_.begin() - 1);
  for (; index != kNone; index = containers_[index].parent) {
    if (start + containers_[index].end > entry) scopes.push_back(start + containers_[index].begin);
  }
  return scopes;
}

DwarfUnit::Scope DwarfUnit::scope_of(const Entry& entry) const {
  Scope scope;
  scope.entry = entry.offset;
  scope.inlined = entry.tag == DW_TAG_inlined_subroutine;
  if (!scope.inlined) return scope;
  scope.origin = reader_.reference(entry, Slot::kOrigin).value_or(0);
  scope.has_call_file = entry.has(Slot::kCallFile);
  if (scope.has_call_file) scope.call_file = entry.value(Slot::kCallFile);
  const std::uint64_t line = entry.has(Slot::kCallLine) ? entry.value(Slot::kCallLine) : 0;
  scope.call_line = line > UINT32_MAX ? 0 : static_cast<std::uint32_t>(line);
  return scope;
}

const DwarfUnit::Calls& DwarfUnit::calls_of(std::uint32_t function) {
  const auto [found, is_new] = calls_.try_emplace(function);
  Calls& calls = found->second;
  Entry entry;
  if (!is_new || !reader_.read(reader_.header().offset + functions_[function], entry) || !entry.has_children) {
    return calls;
  }
  std::vector<std::uint32_t> open{kNone};  // for each open list of children: the call around it
  for (std::uint64_t offset = entry.next; !open.empty() && reader_.read(offset, entry);) {
    offset = entry.next;
    if (entry.tag == 0) {
      open.pop_back();
      continue;
    }
    std::uint32_t around = open.back();
    if (entry.tag == DW_TAG_inlined_subroutine) {
      // Without code of its own it stays as a link between its parent and its children.
      const std::uint32_t index = static_cast<std::uint32_t>(calls.calls.size());
      add_ranges(reader_, entry, index, calls.ranges);
      calls.calls.push_back({scope_of(entry), around});
      around = index;
    }
    if (!entry.has_children) continue;
    if (may_hold_calls(entry.tag) && open.size() < kDeepestNesting) {
      open.push_back(around);
    } else {
      offset = reader_.after(entry);
    }
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
  for (; call != kNone; call = function.calls[call].parent) chain.push_back(function.calls[call].scope);
  Scope outermost;
  outermost.entry = reader_.header().offset + functions_[*found];
  chain.push_back(outermost);
  return chain;
}

void DwarfUnit::add_unit_ranges(std::uint32_t value, IntervalIndex& index) {
  if (add_ranges(reader_, reader_.own_entry(), value, index)) return;
  index_functions();
  Entry entry;
  for (const std::uint32_t function : functions_) {
    if (reader_.read(reader_.header().offset + function, entry)) add_ranges(reader_, entry, value, index);
  }
}

LineTable& DwarfUnit::lines() {
  if (!lines_) lines_.emplace(reader_);
  return *lines_;
}

std::size_t DwarfUnit::memory_bytes() const {
  return sizeof *this + reader_.memory_bytes() + functions_.capacity() * sizeof(std::uint32_t) +
         function_ranges_.memory_bytes() + containers_.capacity() * sizeof(Container) + call_bytes_ +
         (lines_ ? lines_->memory_bytes() : 0);
}

}  // namespace hawk
