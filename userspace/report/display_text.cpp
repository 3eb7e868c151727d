#include "userspace/report/display_text.h"

#include <algorithm>
#include <array>

namespace hawk {
namespace {

constexpr std::string_view kEllipsis = "\xE2\x80\xA6";     // U+2026
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

/// The mark of an omission, and its columns: three if only ASCII may be printed.
std::string ellipsis() { return printable(kEllipsis); }
std::size_t ellipsis_columns() { return character_set() == CharacterSet::kAscii ? 3 : 1; }

struct Range {
  char32_t first;
  char32_t last;
};

// Unicode's general categories Mn and Me, as far as they occur in names; those that are never printed come first.
constexpr std::array<Range, 13> kCombining = {{{0x300, 0x36F},
                                               {0x483, 0x489},
                                               {0x591, 0x5BD},
                                               {0x610, 0x61A},
                                               {0x64B, 0x65F},
                                               {0xE34, 0xE3A},
                                               {0x1AB0, 0x1AFF},
                                               {0x1DC0, 0x1DFF},
                                               {0x200B, 0x200D},
                                               {0x20D0, 0x20FF},
                                               {0xFE00, 0xFE0F},
                                               {0xFE20, 0xFE2F},
                                               {0xE0100, 0xE01EF}}};
// East Asian Width W and F (UAX #11), in blocks.
constexpr std::array<Range, 15> kWide = {{{0x1100, 0x115F},
                                          {0x2E80, 0x303E},
                                          {0x3041, 0x33FF},
                                          {0x3400, 0x4DBF},
                                          {0x4E00, 0x9FFF},
                                          {0xA000, 0xA4CF},
                                          {0xA960, 0xA97F},
                                          {0xAC00, 0xD7A3},
                                          {0xF900, 0xFAFF},
                                          {0xFE30, 0xFE6F},
                                          {0xFF00, 0xFF60},
                                          {0xFFE0, 0xFFE6},
                                          {0x1F300, 0x1F64F},
                                          {0x1F680, 0x1F9FF},
                                          {0x20000, 0x3FFFD}}};
template <std::size_t N>
bool contains(const std::array<Range, N>& ranges, char32_t character) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const Range& range) { return character >= range.first && character <= range.last; });
}

/// One character as it will be printed.
struct Glyph {
  std::string_view bytes;
  std::size_t columns = 1;
};

bool is_plain_character(char c) { return c >= ' ' && c <= '~'; }

Glyph make_glyph(std::string_view bytes, const Character& character) {
  const std::string_view form = printable_form(character, bytes);
  if (form == kReplacement || (form == bytes && character.code < 0x300)) return {form, 1};
  if (form != bytes) return {form, form.size()};
  if (contains(kCombining, character.code)) return {bytes, 0};
  return {bytes, contains(kWide, character.code) ? std::size_t{2} : std::size_t{1}};
}

/// Takes the first character off the text.
Glyph take_glyph(std::string_view& text) {
  const std::string_view whole = text;
  if (is_plain_character(whole.front())) {
    text.remove_prefix(1);
    return {whole.substr(0, 1), 1};
  }
  const Character character = first_character(whole);
  text.remove_prefix(character.length);
  return make_glyph(whole.substr(0, character.length), character);
}

std::vector<Glyph> make_glyphs(std::string_view text) {
  std::vector<Glyph> glyphs;
  glyphs.reserve(text.size());
  while (!text.empty()) glyphs.push_back(take_glyph(text));
  return glyphs;
}

std::size_t width_of(const std::vector<Glyph>& glyphs) {
  std::size_t columns = 0;
  for (const Glyph& glyph : glyphs) columns += glyph.columns;
  return columns;
}

std::string join(std::vector<Glyph>::const_iterator first, std::vector<Glyph>::const_iterator last) {
  std::string text;
  for (; first != last; ++first) text += first->bytes;
  return text;
}

/// The first `head_columns` and the last `tail_columns` columns, with "…" between; wide characters are never split.
std::string cut_out(const std::vector<Glyph>& glyphs, std::size_t head_columns, std::size_t tail_columns) {
  auto head_end = glyphs.begin();
  for (std::size_t used = 0; head_end != glyphs.end() && used + head_end->columns <= head_columns; ++head_end) {
    used += head_end->columns;
  }
  auto tail_begin = glyphs.end();
  for (std::size_t used = 0; tail_begin != head_end && used + std::prev(tail_begin)->columns <= tail_columns;) {
    --tail_begin;
    used += tail_begin->columns;
  }
  // A combining mark belongs to the character before it, which was removed.
  while (tail_begin != glyphs.end() && tail_begin->columns == 0) ++tail_begin;
  return join(glyphs.begin(), head_end) + ellipsis() + join(tail_begin, glyphs.end());
}

/// The part that fits if there is room only for the ellipsis, or not even for that.
std::string too_narrow(std::size_t columns) {
  if (character_set() == CharacterSet::kAscii) return ellipsis().substr(0, columns);
  return columns == 0 ? "" : ellipsis();
}

/// Whether every byte of `text` is one character of one column: nearly every name and number is, and needs no decoding.
bool is_plain(std::string_view text) { return std::all_of(text.begin(), text.end(), is_plain_character); }

/// As cut_out().
std::string cut_out_of_plain(std::string_view text, std::size_t head_columns, std::size_t tail_columns) {
  return std::string(text.substr(0, head_columns)).append(ellipsis()).append(text.substr(text.size() - tail_columns));
}

/// `text`, or so much of its beginning and end that it is so wide.
std::string shorten(std::string_view text, std::size_t columns, std::size_t head_columns, std::size_t tail_columns) {
  const bool plain = is_plain(text);
  if (text.size() <= columns && plain) return std::string(text);
  const std::vector<Glyph> glyphs = plain ? std::vector<Glyph>() : make_glyphs(text);
  if (!plain && width_of(glyphs) <= columns) return join(glyphs.begin(), glyphs.end());
  if (columns <= ellipsis_columns()) return too_narrow(columns);
  return plain ? cut_out_of_plain(text, head_columns, tail_columns) : cut_out(glyphs, head_columns, tail_columns);
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) columns += take_glyph(text).columns;
  return columns;
}

std::string shorten_middle(std::string_view text, std::size_t columns) {
  const std::size_t kept = columns - std::min(columns, ellipsis_columns());
  return shorten(text, columns, kept - kept / 2, kept / 2);
}

std::string shorten_end(std::string_view text, std::size_t columns) {
  return shorten(text, columns, columns - std::min(columns, ellipsis_columns()), 0);
}

std::string align_right(std::string_view text, std::size_t columns) {
  const std::size_t width = display_width(text);
  return std::string(columns > width ? columns - width : 0, ' ').append(text);
}

std::string align_left(std::string_view text, std::size_t columns) {
  const std::size_t width = display_width(text);
  return std::string(text).append(columns > width ? columns - width : 0, ' ');
}

std::vector<std::string> wrap_words(std::string_view text, std::size_t columns, std::size_t indent) {
  std::vector<std::string> lines(1);
  std::size_t used = 0;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t blank = std::min(text.find_first_not_of(' ', start), text.size());
    const std::size_t end = std::min(text.find(' ', blank), text.size());
    const std::string_view word = text.substr(start, end - start);  // with the spaces before it
    const std::size_t width = display_width(word);
    if (columns != 0 && used > indent && used + width > columns) {
      lines.emplace_back(indent, ' ');
      lines.back() += text.substr(blank, end - blank);
      used = display_width(lines.back());
    } else {
      lines.back() += word;
      used += width;
    }
    start = end;
  }
  return lines;
}

}  // namespace hawk
