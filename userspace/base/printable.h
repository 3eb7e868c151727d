#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hawk {

/// Which characters may be printed for people. One process-wide setting, made once at the start.
enum class CharacterSet { kUnicode, kAscii };
void set_character_set(CharacterSet set);
CharacterSet character_set();
/// That of the locale which these variables of the environment choose, the first that is set and not empty; nullptr
/// where not set. Only what names UTF-8 is Unicode. The locale itself is not asked: it need not be installed.
CharacterSet character_set_of(const char* lc_all, const char* lc_ctype, const char* lang);

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
/// for control characters (C0, DEL, C1) and for characters that reorder their neighbours. Where only ASCII may be
/// printed, "?" for those and for what has no like in it, "..." for an ellipsis and so on.
std::string_view printable_form(const Character& character, std::string_view bytes) noexcept;

/// `text` as it may be sent to a terminal: the printable form of each character, for a process may call itself
/// "\e[2J". Whatever we print and have not written ourselves passes this; reports through display_text.h, messages
/// through log.h. Idempotent.
std::string printable(std::string_view text);

/// The same for files, which are read elsewhere: whatever the character set, in Unicode.
std::string printable_unicode(std::string_view text);

}  // namespace hawk
