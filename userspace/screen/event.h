#pragma once

#include <cstddef>
#include <string>

namespace hawk {

/// What kind of thing the user did.
enum class Key {
  kText,  ///< a character, in `text`
  kUp,
  kDown,
  kLeft,
  kRight,
  kPageUp,
  kPageDown,
  kHome,
  kEnd,
  kEnter,
  kEscape,
  kBackspace,
  kClick,      ///< the mouse's first button, at `row` and `column`
  kWheelUp,    ///< the mouse's wheel
  kWheelDown,  ///< likewise
  kOther,      ///< a key without a meaning here
};

/// One key or mouse action.
struct ScreenEvent {
  Key key = Key::kOther;
  std::string text = {};   ///< one character in UTF-8; empty unless kText
  std::size_t row = 0;     ///< from the top; of kClick
  std::size_t column = 0;  ///< from the left; of kClick

  bool is(char character) const { return key == Key::kText && text.size() == 1 && text[0] == character; }
};

}  // namespace hawk
