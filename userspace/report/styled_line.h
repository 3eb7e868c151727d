#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hawk {

/// The appearance of a piece of a line with colours.
enum class Style { kPlain, kStrong, kDim, kGood, kBad };

/// Text of one style.
struct StyledPiece {
  std::string text;
  Style style = Style::kPlain;
  std::size_t columns = 0;  ///< that the text takes
};

/// One line of text, made of pieces. All text is made printable when it is added, so that no name from the target can
/// reach the terminal as a command.
class StyledLine {
 public:
  StyledLine& add(std::string_view text, Style style = Style::kPlain);
  /// Columns so far.
  std::size_t width() const { return width_; }
  /// The line's pieces within `max_columns`: the end of a longer line becomes "…"; 0: any length.
  std::vector<StyledPiece> pieces(std::size_t max_columns) const;
  /// Without a newline. `max_columns`: the end of a longer line becomes "…"; 0: any length. With `color` pieces are
  /// wrapped in SGR sequences, each closed again.
  std::string render(std::size_t max_columns, bool color) const;

 private:
  std::vector<StyledPiece> pieces_;
  std::size_t width_ = 0;
};

}  // namespace hawk
