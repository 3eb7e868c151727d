#include "userspace/report/styled_line.h"

#include "userspace/base/check.h"
#include "userspace/report/display_text.h"

namespace hawk {
namespace {

std::string_view sgr(Style style) {
  switch (style) {
    case Style::kPlain:
      return "";
    case Style::kStrong:
      return "\x1b[1m";
    case Style::kDim:
      return "\x1b[2m";
    case Style::kGood:
      return "\x1b[32m";
    case Style::kBad:
      return "\x1b[1;31m";
  }
  HAWK_CHECK(false, "a style without a sequence");
}

void append(std::string& line, std::string_view text, Style style, bool color) {
  const bool painted = color && style != Style::kPlain && !text.empty();
  if (painted) line += sgr(style);
  line += text;
  if (painted) line += "\x1b[0m";
}

}  // namespace

StyledLine& StyledLine::add(std::string_view text, Style style) {
  pieces_.push_back({printable(text), style});
  width_ += display_width(pieces_.back().text);
  return *this;
}

std::string StyledLine::render(std::size_t max_columns, bool color) const {
  std::string line;
  const bool too_wide = max_columns != 0 && width_ > max_columns;
  std::size_t left = max_columns;
  for (const Piece& piece : pieces_) {
    const std::size_t columns = display_width(piece.text);
    if (too_wide && columns >= left) {
      // Cut as if more followed: this piece may fill the line exactly while the next ones are dropped.
      append(line, shorten_end(piece.text + "  ", left), piece.style, color);
      break;
    }
    append(line, piece.text, piece.style, color);
    left -= too_wide ? columns : 0;
  }
  return line;
}

}  // namespace hawk
