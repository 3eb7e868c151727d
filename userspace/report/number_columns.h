#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "userspace/report/styled_line.h"

namespace hawk {

/// A column of numbers.
struct NumberColumn {
  std::string title;
  int keep = 0;               ///< when the terminal is narrow, the columns with the smallest value go first
  std::size_t min_width = 0;  ///< what keeps columns from jumping about
  bool sorted = false;        ///< rows are ordered by it
  bool emphasizes_growth = false;
};

/// The position of a column on a line, including the gap after it.
struct TitleSpan {
  std::string title;
  std::size_t first_column = 0;
  std::size_t end_column = 0;
};

/// Columns of numbers, aligned to the right, on the left of something else.
class NumberColumns {
 public:
  explicit NumberColumns(std::size_t rows) : rows_(rows) {}

  /// Adds a column whose cell of each row `cell` gives.
  void add(NumberColumn column, const std::function<std::string(std::size_t row)>& cell);
  /// Drops columns until `others` columns are left beside them on a line of `line_width`; the most important one stays.
  void drop(std::size_t line_width, std::size_t others);

  /// Columns of the terminal that all of them take.
  std::size_t width() const;
  std::vector<TitleSpan> title_spans() const;
  /// Appends the titles to `line`, or the cells of a row, each followed by two spaces.
  void add_titles(StyledLine& line) const;
  void add_cells(StyledLine& line, std::size_t row) const;

 private:
  struct Column {
    NumberColumn kind;
    std::vector<std::string> cells;  ///< one per row
    std::size_t width = 0;           ///< of the widest cell or title
  };
  std::size_t rows_;
  std::vector<Column> columns_;
};

}  // namespace hawk
