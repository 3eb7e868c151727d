#include "userspace/report/styled_line.h"

#include "userspace/base/check.h"
#include "userspace/report/display_text.h"

namespace hawk {
namespace {

constexpr std::size_t kUsualPieces = 8;

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
  if (pieces_.empty()) pieces_.reserve(kUsualPieces);
  StyledPiece& piece = pieces_.emplace_back(StyledPiece{printable(text), style, 0});
  piece.columns = display_width(piece.text);
  width_ += piece.columns;
  return *this;
}

std::vector<StyledPiece> StyledLine::pieces(std::size_t max_columns) const {
  if (max_columns == 0 || width_ <= max_columns) return pieces_;
  std::vector<StyledPiece> fitting;
  std::size_t left = max_columns;
  for (const StyledPiece& piece : pieces_) {
    if (piece.columns >= left) {
      // Cut as if more followed: this piece may fill the line exactly while the next ones are dropped.
      fitting.push_back({shorten_end(piece.text + "  ", left), piece.style, left});
      break;
    }
    fitting.push_back(piece);
    left -= piece.columns;
  }
  return fitting;
}

std::string StyledLine::render(std::size_t max_columns, bool color) const {
  std::string line;
  line.reserve(width_);
  const bool too_wide = max_columns != 0 && width_ > max_columns;
  const std::vector<StyledPiece> fitting = too_wide ? pieces(max_columns) : std::vector<StyledPiece>();
  for (const StyledPiece& piece : too_wide ? fitting : pieces_) append(line, piece.text, piece.style, color);
  return line;
}

}  // namespace hawk
