#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hawk {

/// How a piece of a line looks where colours are wanted.
enum class Style { kPlain, kStrong, kDim, kGood, kBad };

/// One line for people, made of pieces. Whatever is added is made printable first, so that no name that the target
/// chose can reach the terminal as a command.
class StyledLine {
 public:
  StyledLine& add(std::string_view text, Style style = Style::kPlain);
  /// Columns so far.
  std::size_t width() const { return width_; }
  /// Without a newline. `max_columns`: the end of a longer line becomes "…"; 0: any length. With `color` pieces are
  /// wrapped in SGR sequences, each closed again.
  std::string render(std::size_t max_columns, bool color) const;

 private:
  struct Piece {
    std::string text;
    Style style;
    std::size_t columns;
  };
  std::vector<Piece> pieces_;
  std::size_t width_ = 0;
};

}  // namespace hawk
