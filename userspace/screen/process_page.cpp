#include "userspace/screen/process_page.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "userspace/report/number_columns.h"
#include "userspace/report/target_lines.h"

namespace hawk {
namespace {

std::vector<std::size_t> largest_first(const Moment& moment, ScreenSort sort) {
  const std::vector<TargetPart>& parts = moment.now.parts;
  std::vector<std::uint64_t> values;
  for (std::size_t index = 0; index < parts.size(); ++index) {
    const bool was_there = moment.previous != nullptr && index < moment.previous->parts.size();
    const Counters* const before = was_there ? &moment.previous->parts[index].totals : nullptr;
    values.push_back(sort_value(parts[index].totals, before, sort));
  }
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] > values[b]; });
  return order;
}

}  // namespace

ScreenLines process_page(const Moment& moment, ScreenSort sort) {
  if (moment.now.parts.empty()) return {{StyledLine{}.add("one process is traced")}};
  const std::vector<std::size_t> order = largest_first(moment, sort);
  const auto totals = [&](std::size_t row) -> const Counters& { return moment.now.parts[order[row]].totals; };
  NumberColumns columns(order.size());
  columns.add({.title = "LIVE", .keep = 3, .min_width = 11},
              [&](std::size_t row) { return moment.bytes(totals(row).live_bytes()); });
  columns.add({.title = "BLOCKS", .keep = 2, .min_width = 9},
              [&](std::size_t row) { return moment.count(totals(row).live_count()); });
  columns.add({.title = "ALLOCATED", .keep = 1, .min_width = 11},
              [&](std::size_t row) { return moment.bytes(totals(row).allocated_bytes); });
  const TargetDescriptions descriptions(moment.now);
  ScreenLines lines;
  const std::string common = descriptions.common_text();
  if (!common.empty()) lines.push_back({StyledLine{}.add(common, Style::kDim)});
  StyledLine titles;
  columns.add_titles(titles);
  lines.push_back({titles.add("PROCESS", Style::kDim)});
  for (std::size_t row = 0; row < order.size(); ++row) {
    StyledLine line;
    columns.add_cells(line, row);
    descriptions.add(line, order[row], moment.style);
    lines.push_back({line});
  }
  return lines;
}

}  // namespace hawk
