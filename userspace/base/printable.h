#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hawk {

/// The first character of a text in UTF-8.
struct Character {
  char32_t code = 0;
  std::size_t length = 1;  ///< in bytes
  bool valid = false;      ///< false: this byte is no UTF-8
};

/// The character at the front of `text`, which is not empty. Overlong forms, surrogates and cut-off sequences are
/// invalid and one byte long.
Character first_character(std::string_view text) noexcept;

/// What is printed for `character`, which has these bytes: those bytes; a space for a tab; U+FFFD for what is no UTF-8,
/// for control characters (C0, DEL, C1) and for characters that reorder their neighbours.
std::string_view printable_form(const Character& character, std::string_view bytes) noexcept;

/// `text` as it may be sent to a terminal: the printable form of each character, for a process may call itself
/// "\e[2J". Whatever we print and have not written ourselves passes this; reports through display_text.h, messages
/// through log.h. Idempotent.
std::string printable(std::string_view text);

}  // namespace hawk
