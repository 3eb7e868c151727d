#include "userspace/base/printable.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace hawk {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

struct Range {
  char32_t first;
  char32_t last;
};

// C0 (a tab is a space) and C1, marks and overrides of the bidirectional algorithm, line and paragraph separators, the
// byte order mark, and Unicode's other invisible commands: deprecated format characters, annotations, tags.
constexpr std::array<Range, 10> kCommands = {{{0x00, 0x1F},
                                              {0x7F, 0x9F},
                                              {0x061C, 0x061C},
                                              {0x200E, 0x200F},
                                              {0x2028, 0x202E},
                                              {0x2066, 0x2069},
                                              {0x206A, 0x206F},
                                              {0xFEFF, 0xFEFF},
                                              {0xFFF9, 0xFFFB},
                                              {0xE0000, 0xE007F}}};

CharacterSet current = CharacterSet::kUnicode;

/// The replacements for hawktrace's own characters if only ASCII may be printed.
struct Likeness {
  char32_t code;
  std::string_view ascii;
};
constexpr std::array<Likeness, 10> kLikenesses = {{{0x2026, "..."},
                                                   {0xD7, "x"},
                                                   {0xB5, "u"},
                                                   {0x25BC, "v"},
                                                   {0x25B2, "^"},
                                                   {0x2265, ">="},
                                                   {0x2190, "<"},
                                                   {0x2191, "^"},
                                                   {0x2192, ">"},
                                                   {0x2193, "v"}}};

std::string_view ascii_form(const Character& character, std::string_view bytes) {
  if (!character.valid) return "?";
  if (character.code == '\t') return " ";
  if (character.code >= ' ' && character.code <= '~') return bytes;
  const auto* const like = std::find_if(kLikenesses.begin(), kLikenesses.end(),
                                        [&](const Likeness& likeness) { return likeness.code == character.code; });
  return like != kLikenesses.end() ? like->ascii : "?";
}

bool is_command(char32_t code) {
  return std::any_of(kCommands.begin(), kCommands.end(),
                     [&](const Range& range) { return code >= range.first && code <= range.last; });
}

bool is_plain(char c) { return c >= ' ' && c <= '~'; }

std::string_view unicode_form(const Character& character, std::string_view bytes) {
  if (!character.valid) return kReplacement;
  if (character.code == '\t') return " ";
  return is_command(character.code) ? kReplacement : bytes;
}

/// `text` with the form of each character; plain ones are their own.
template <class Form>
std::string formed(std::string_view text, const Form& form_of) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    // Nearly every name is plain, and needs no decoding.
    const auto plain_end = std::find_if_not(text.begin(), text.end(), is_plain);
    const auto plain = static_cast<std::size_t>(plain_end - text.begin());
    shown += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const Character character = first_character(text);
    shown += form_of(character, text.substr(0, character.length));
    text.remove_prefix(character.length);
  }
  return shown;
}

}  // namespace

void set_character_set(CharacterSet set) { current = set; }
CharacterSet character_set() { return current; }

CharacterSet character_set_of(const char* lc_all, const char* lc_ctype, const char* lang) {
  for (const char* variable : {lc_all, lc_ctype, lang}) {
    if (variable == nullptr || *variable == '\0') continue;
    std::string locale(variable);
    for (char& c : locale) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
    const bool is_utf8 = locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
    return is_utf8 ? CharacterSet::kUnicode : CharacterSet::kAscii;
  }
  return CharacterSet::kAscii;
}

Character first_character(std::string_view text) noexcept {
  const auto byte = [&](std::size_t index) { return static_cast<std::uint8_t>(text[index]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return {};
  char32_t code = lead & (0x7FU >> length);
  for (std::size_t index = 1; index < length; ++index) {
    if ((byte(index) & 0xC0) != 0x80) return {};
    code = code << 6 | (byte(index) & 0x3FU);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (overlong || surrogate || code > 0x10FFFF) return {};
  return {code, length, true};
}

std::string_view printable_form(const Character& character, std::string_view bytes) noexcept {
  return current == CharacterSet::kAscii ? ascii_form(character, bytes) : unicode_form(character, bytes);
}

std::string printable(std::string_view text) { return formed(text, printable_form); }

std::string printable_unicode(std::string_view text) { return formed(text, unicode_form); }

}  // namespace hawk
