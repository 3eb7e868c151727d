#include "userspace/report/number_columns.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "userspace/report/display_text.h"

namespace hawk {
namespace {

constexpr std::string_view kGap = "  ";

}  // namespace

void NumberColumns::add(NumberColumn column, const std::function<std::string(std::size_t row)>& cell) {
  Column added{std::move(column), {}, 0};
  if (added.kind.sorted) added.kind.title += "▼";
  added.width = std::max(added.kind.min_width, display_width(added.kind.title));
  added.cells.reserve(rows_);
  for (std::size_t row = 0; row < rows_; ++row) {
    added.cells.push_back(cell(row));
    added.width = std::max(added.width, added.cells.back().size());
  }
  columns_.push_back(std::move(added));
}

void NumberColumns::drop(std::size_t width, std::size_t others) {
  const auto used = [&] {
    std::size_t sum = others;
    for (const Column& column : columns_) sum += column.width + kGap.size();
    return sum;
  };
  while (columns_.size() > 1 && used() > width) {
    columns_.erase(std::min_element(columns_.begin(), columns_.end(),
                                    [](const Column& a, const Column& b) { return a.kind.keep < b.kind.keep; }));
  }
}

void NumberColumns::add_titles(StyledLine& line) const {
  for (const Column& column : columns_) {
    line.add(align_right(column.kind.title, column.width), column.kind.sorted ? Style::kStrong : Style::kDim);
    line.add(kGap);
  }
}

void NumberColumns::add_cells(StyledLine& line, std::size_t row) const {
  std::string cells;  // as one piece as far as it goes: there may be 100,000 rows
  for (const Column& column : columns_) {
    const std::string& cell = column.cells[row];
    cells.append(column.width - cell.size(), ' ');
    if (column.kind.emphasizes_growth && cell.starts_with('+')) {
      line.add(cells).add(cell, Style::kStrong);
      cells.clear();
    } else {
      cells += cell;
    }
    cells += kGap;
  }
  line.add(cells);
}

}  // namespace hawk
