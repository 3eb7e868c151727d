#include "userspace/report/display_text.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace hawk {
namespace {

TEST(DisplayText, PlainTextStaysAsItIs) {
  EXPECT_EQ(printable("std::map<int, char>"), "std::map<int, char>");
  EXPECT_EQ(printable("café 日本 🙂"), "café 日本 🙂");
  EXPECT_EQ(printable(""), "");
}

TEST(DisplayText, TerminalCommandsAreDisarmed) {
  EXPECT_EQ(printable("a\x1b[2Jb"), "a\uFFFD[2Jb");
  EXPECT_EQ(printable("a\nb\rc\td\x7f"), "a\uFFFDb\uFFFDc d\uFFFD");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\uFFFD31m")
      << "CSI as one character of C1";
  EXPECT_EQ(printable("a\u202Eb\u2066c\uFEFF"), "a\uFFFDb\uFFFDc\uFFFD");
}

TEST(DisplayText, BytesThatAreNotUtf8AreReplacedOneByOne) {
  EXPECT_EQ(printable("\xff\xfe"), "\uFFFD\uFFFD");
  EXPECT_EQ(printable("a\xc3"), "a\uFFFD") << "cut off";
  EXPECT_EQ(printable("\xc0\xaf"), "\uFFFD\uFFFD") << "overlong";
  EXPECT_EQ(printable("\xe0\x80\xaf"), "\uFFFD\uFFFD\uFFFD") << "overlong";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD") << "surrogate";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD") << "beyond the last character";
  EXPECT_EQ(printable("\xe6\x97z"), "\uFFFD\uFFFDz");
}

TEST(DisplayText, PrintableIsIdempotent) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string once = printable(std::string("a") + static_cast<char>(byte) + "\x80z");
    EXPECT_EQ(printable(once), once) << byte;
  }
}

TEST(DisplayText, WidthCountsColumns) {
  EXPECT_EQ(display_width("abc"), 3U);
  EXPECT_EQ(display_width("café"), 4U);
  EXPECT_EQ(display_width("日本"), 4U);
  EXPECT_EQ(display_width("e\u0301"), 1U);
  EXPECT_EQ(display_width("…"), 1U);
}

TEST(DisplayText, ShorteningKeepsBothEnds) {
  EXPECT_EQ(shorten_middle("abcdefghij", 10), "abcdefghij");
  EXPECT_EQ(shorten_middle("abcdefghij", 5), "ab…ij");
  EXPECT_EQ(shorten_middle("abcdefghij", 4), "ab…j");
  EXPECT_EQ(shorten_middle("abcdefghij", 1), "…");
  EXPECT_EQ(shorten_middle("abcdefghij", 0), "");
  EXPECT_EQ(shorten_end("abcdefghij", 4), "abc…");
  EXPECT_EQ(shorten_end("abcd", 4), "abcd");
}

TEST(DisplayText, ShorteningNeverExceedsTheColumns) {
  const std::string_view text = "日本a語e\u0301b🙂\xff語";
  for (std::size_t columns = 0; columns < 20; ++columns) {
    EXPECT_LE(display_width(shorten_middle(text, columns)), columns);
    EXPECT_LE(display_width(shorten_end(text, columns)), columns);
  }
}

TEST(DisplayText, AlignmentCountsColumnsNotBytes) {
  EXPECT_EQ(align_right("é", 3), "  é");
  EXPECT_EQ(align_left("日", 3), "日 ");
  EXPECT_EQ(align_right("long", 2), "long");
}

TEST(DisplayText, WordsAreWrapped) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(wrap_words("one two three", 0, 2), (Lines{"one two three"}));
  EXPECT_EQ(wrap_words("one two three", 13, 2), (Lines{"one two three"}));
  EXPECT_EQ(wrap_words("one two three", 12, 2), (Lines{"one two", "  three"}));
  EXPECT_EQ(wrap_words("  one two three", 8, 4), (Lines{"  one", "    two", "    three"}));
  EXPECT_EQ(wrap_words("a enormous b", 4, 0), (Lines{"a", "enormous", "b"})) << "a long word stays whole";
  EXPECT_EQ(wrap_words("", 10, 2), (Lines{""}));
}

TEST(DisplayText, AsciiIsNoWiderThanWhatWasAskedFor) {
  set_character_set(CharacterSet::kAscii);
  EXPECT_EQ(shorten_middle("abcdefghij", 7), "ab...ij");
  EXPECT_EQ(shorten_end("abcdefghij", 7), "abcd...");
  EXPECT_EQ(shorten_end("caf\xc3\xa9", 4), "caf?");
  EXPECT_EQ(display_width("… \xc3\x97"), 5u);
  for (std::size_t columns = 0; columns < 12; ++columns) {
    EXPECT_LE(shorten_middle("abcdefghijkl…", columns).size(), columns);
    EXPECT_LE(shorten_end("abcdefghijkl…", columns).size(), columns);
  }
  set_character_set(CharacterSet::kUnicode);
}

}  // namespace
}  // namespace hawk
