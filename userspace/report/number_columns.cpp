#include "userspace/report/number_columns.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "userspace/report/display_text.h"

namespace hawk {
namespace {

constexpr std::string_view kGap = "  ";

std::string shown_title(const NumberColumn& column) { return column.sorted ? column.title + "▼" : column.title; }

}  // namespace

void NumberColumns::add(NumberColumn column, const std::function<std::string(std::size_t row)>& cell) {
  Column added{std::move(column), {}, 0};
  added.width = std::max(added.kind.min_width, display_width(shown_title(added.kind)));
  added.cells.reserve(rows_);
  for (std::size_t row = 0; row < rows_; ++row) {
    added.cells.push_back(cell(row));
    added.width = std::max(added.width, added.cells.back().size());
  }
  columns_.push_back(std::move(added));
}

std::size_t NumberColumns::width() const {
  std::size_t sum = 0;
  for (const Column& column : columns_) sum += column.width + kGap.size();
  return sum;
}

std::vector<TitleSpan> NumberColumns::title_spans() const {
  std::vector<TitleSpan> spans;
  std::size_t first = 0;
  for (const Column& column : columns_) {
    const std::size_t end = first + column.width + kGap.size();
    spans.push_back({column.kind.title, first, end});
    first = end;
  }
  return spans;
}

void NumberColumns::drop(std::size_t line_width, std::size_t others) {
  while (columns_.size() > 1 && others + width() > line_width) {
    columns_.erase(std::min_element(columns_.begin(), columns_.end(),
                                    [](const Column& a, const Column& b) { return a.kind.keep < b.kind.keep; }));
  }
}

void NumberColumns::add_titles(StyledLine& line) const {
  for (const Column& column : columns_) {
    line.add(align_right(shown_title(column.kind), column.width), column.kind.sorted ? Style::kStrong : Style::kDim);
    line.add(kGap);
  }
}

void NumberColumns::add_cells(StyledLine& line, std::size_t row) const {
  std::string cells;  // in one piece: there may be 100,000 rows
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
