#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "userspace/base/printable.h"

namespace hawk {

/// Columns of a terminal that `text`, made printable, takes: 2 for East Asian wide characters, 0 for combining ones.
/// An own table, because wcwidth(3) depends on the locale.
std::size_t display_width(std::string_view text);

/// `text` made printable and no wider than `columns`: when too long, its middle becomes "…". The ends of a function's
/// name and of a path are more informative than the middle.
std::string shorten_middle(std::string_view text, std::size_t columns);

/// Like shorten_middle, but the end becomes "…".
std::string shorten_end(std::string_view text, std::size_t columns);

/// `text` with spaces on the left (numbers) or on the right, at least `columns` wide.
std::string align_right(std::string_view text, std::size_t columns);
std::string align_left(std::string_view text, std::size_t columns);

/// `text` broken at spaces into lines of at most `columns` (0: one line), the second and later ones indented. A word
/// that is longer than a line stays whole.
std::vector<std::string> wrap_words(std::string_view text, std::size_t columns, std::size_t indent);

}  // namespace hawk
