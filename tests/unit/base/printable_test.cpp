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

}  // namespace
}  // namespace hawk
