#include "userspace/unwinding/outermost.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

namespace hawk {
namespace {

using Rows = std::vector<hawk_row>;

std::optional<std::uint32_t> offset_in(const UnwindTable& table, std::uint64_t vaddr) {
  if (table.rows.empty() || vaddr < table.base_vaddr) return std::nullopt;
  const std::uint64_t offset = vaddr - table.base_vaddr;
  if (offset > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  return static_cast<std::uint32_t>(offset);
}

/// The first row beyond `offset`. The one before it holds there.
Rows::iterator row_after(Rows& rows, std::uint32_t offset) {
  return std::upper_bound(rows.begin(), rows.end(), offset,
                          [](std::uint32_t wanted, const hawk_row& row) { return wanted < row.offset; });
}

/// Makes `rule` hold from `first` up to `end`, where all goes on as it was.
void set_rule(Rows& rows, std::uint32_t first, std::uint32_t end, std::uint32_t rule) {
  const std::uint32_t rule_beyond = (row_after(rows, end) - 1)->rule;
  const auto from =
      std::partition_point(rows.begin(), rows.end(), [&](const hawk_row& row) { return row.offset < first; });
  const auto to = row_after(rows, end);
  const Rows pieces = {{.offset = first, .rule = rule}, {.offset = end, .rule = rule_beyond}};
  rows.insert(rows.erase(from, to), pieces.begin(), pieces.end());
}

}  // namespace

void end_at_entry_point(UnwindTable& table, std::uint64_t entry_vaddr) {
  const std::optional<std::uint32_t> entry = offset_in(table, entry_vaddr);
  if (!entry) return;
  const auto next = row_after(table.rows, *entry);
  if (next == table.rows.end() || (next - 1)->rule != HAWK_RULE_GAP) return;
  set_rule(table.rows, *entry, next->offset, HAWK_RULE_END);
}

void end_at_start_of(UnwindTable& table, std::uint64_t function_vaddr) {
  const std::optional<std::uint32_t> before = offset_in(table, function_vaddr - 1);
  if (before) set_rule(table.rows, *before, *before + 1, HAWK_RULE_END);
}

}  // namespace hawk
