#pragma once

#include <string>
#include <string_view>

namespace hawk {

/// A piece of a JSON document without the line ends and indentations between its values; strings have no line ends.
/// Each piece must begin where a line begins or within one.
inline std::string without_lines(std::string_view piece) {
  std::string line;
  line.reserve(piece.size());
  bool at_start = false;
  for (const char character : piece) {
    if (character == '\n') at_start = true;
    if (character != '\n' && character != ' ') at_start = false;
    if (!at_start) line += character;
  }
  return line;
}

}  // namespace hawk
