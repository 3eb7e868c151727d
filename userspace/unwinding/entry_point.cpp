#include "userspace/unwinding/entry_point.h"

#include <algorithm>
#include <limits>

namespace hawk {

void end_at_entry_point(UnwindTable& table, std::uint64_t entry_vaddr) {
  if (table.rows.empty() || entry_vaddr < table.base_vaddr) return;
  const std::uint64_t offset = entry_vaddr - table.base_vaddr;
  if (offset > std::numeric_limits<std::uint32_t>::max()) return;
  const auto next = std::upper_bound(table.rows.begin(), table.rows.end(), offset,
                                     [](std::uint64_t wanted, const hawk_row& row) { return wanted < row.offset; });
  const auto row = next - 1;  // the first has offset 0
  if (row->rule != HAWK_RULE_GAP || next == table.rows.end()) return;
  if (row->offset == offset) {
    row->rule = HAWK_RULE_END;
  } else {
    table.rows.insert(next, {.offset = static_cast<__u32>(offset), .rule = HAWK_RULE_END});
  }
}

}  // namespace hawk
