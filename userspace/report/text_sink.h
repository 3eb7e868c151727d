#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace hawk {

/// Takes the next piece of a document; false: no more is wanted (the reader is gone).
using TextSink = std::function<bool(std::string_view)>;

/// The whole document that `write` gives to its sink.
template <class Write>
std::string text_of_document(const Write& write) {
  std::string text;
  write(TextSink([&text](std::string_view piece) {
    text += piece;
    return true;
  }));
  return text;
}

/// Pieces are about so long: a document of 100,000 stacks never exists in memory as a whole.
inline constexpr std::size_t kPieceBytes = 64 * 1024;

}  // namespace hawk
