#include "userspace/base/printable.h"

#include <gtest/gtest.h>

namespace hawk {
namespace {

/// As a terminal would read it: whether a byte or a character of `text` is a command to it.
bool commands_a_terminal(std::string_view text) {
  while (!text.empty()) {
    const Character character = first_character(text);
    const char32_t code = character.code;
    const bool control = code < 0x20 || (code >= 0x7F && code < 0xA0);
    const bool reorders = (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) || code == 0x061C;
    if (!character.valid || control || reorders) return true;
    text.remove_prefix(character.length);
  }
  return false;
}

TEST(Printable, KeepsOrdinaryText) {
  EXPECT_EQ(printable("std::map<int, char>"), "std::map<int, char>");
  EXPECT_EQ(printable("café 日本 🙂"), "café 日本 🙂");
  EXPECT_EQ(printable(""), "");
}

TEST(Printable, NoByteAloneOrBehindAnotherCommandsATerminal) {
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const std::string text = {'a', static_cast<char>(first), static_cast<char>(second), 'z'};
      const std::string shown = printable(text);
      ASSERT_FALSE(commands_a_terminal(shown)) << first << " " << second;
      ASSERT_EQ(printable(shown), shown) << first << " " << second;
    }
  }
}

TEST(Printable, NoCharacterCommandsATerminal) {
  for (char32_t code = 0x80; code <= 0x10FFFF; ++code) {
    const auto tail = [&](unsigned shift) { return static_cast<char>(0x80 | (code >> shift & 0x3F)); };
    std::string text;
    if (code < 0x800) {
      text = {static_cast<char>(0xC0 | code >> 6), tail(0)};
    } else if (code < 0x10000) {
      text = {static_cast<char>(0xE0 | code >> 12), tail(6), tail(0)};
    } else {
      text = {static_cast<char>(0xF0 | code >> 18), tail(12), tail(6), tail(0)};
    }
    ASSERT_FALSE(commands_a_terminal(printable(text))) << static_cast<unsigned>(code);
  }
}

TEST(CharacterSet, IsThatOfTheFirstVariableThatIsSet) {
  EXPECT_EQ(character_set_of("C", "C.UTF-8", "en_US.UTF-8"), CharacterSet::kAscii);
  EXPECT_EQ(character_set_of("", nullptr, "de_DE.utf8"), CharacterSet::kUnicode);
  EXPECT_EQ(character_set_of(nullptr, "POSIX", "en_US.UTF-8"), CharacterSet::kAscii);
  EXPECT_EQ(character_set_of("C.UTF-8", nullptr, nullptr), CharacterSet::kUnicode);
  EXPECT_EQ(character_set_of(nullptr, nullptr, "de_DE.ISO-8859-1"), CharacterSet::kAscii);
  EXPECT_EQ(character_set_of(nullptr, nullptr, nullptr), CharacterSet::kAscii);
}

TEST(CharacterSet, AsciiHasALikenessOrAQuestionMark) {
  set_character_set(CharacterSet::kAscii);
  EXPECT_EQ(printable("… f ×37, 1.1 µs, caf\xc3\xa9, \xff, a\tb, \x1b[2J"), "... f x37, 1.1 us, caf?, ?, a b, ?[2J");
  set_character_set(CharacterSet::kUnicode);
}

}  // namespace
}  // namespace hawk
