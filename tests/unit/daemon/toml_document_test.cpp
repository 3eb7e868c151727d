#include "userspace/daemon/toml_document.h"

#include <gtest/gtest.h>

#include <string>

namespace hawk {
namespace {

TEST(TomlDocument, KeepsValuesAndTheirLines) {
  const auto document = parse_toml("[a]\nflag = true\nnumber = 7\n\ntext = \"x\"\nlist = [\"y\", \"z\"]\n", "f");
  ASSERT_TRUE(document) << document.error().what;
  ASSERT_EQ(document->size(), 1U);
  const auto& table = std::get<TomlValue::Table>(document->front().value.value);
  ASSERT_EQ(table.size(), 4U);
  const auto find = [&](const std::string& key) -> const TomlValue& {
    for (const TomlEntry& entry : table) {
      if (entry.key == key) return entry.value;
    }
    throw std::out_of_range(key);
  };
  EXPECT_EQ(std::get<bool>(find("flag").value), true);
  EXPECT_EQ(std::get<std::int64_t>(find("number").value), 7);
  EXPECT_EQ(std::get<std::string>(find("text").value), "x");
  EXPECT_EQ(find("text").line, 5U);
  EXPECT_EQ(std::get<TomlValue::Array>(find("list").value).size(), 2U);
}

TEST(TomlDocument, SaysWhereItIsNone) {
  const auto document = parse_toml("[a]\nb = \n", "the file");
  ASSERT_FALSE(document);
  EXPECT_EQ(document.error().exit_code, ExitCode::kUsage);
  EXPECT_TRUE(document.error().what.starts_with("the file:2: ")) << document.error().what;
}

TEST(TomlDocument, RefusesDates) {
  const auto document = parse_toml("a = 2026-01-01\n", "f");
  ASSERT_FALSE(document);
  EXPECT_EQ(document.error().what, "f:1: dates and times have no meaning here");
}

TEST(TomlDocument, TakesOtherLettersInCommentsOnly) {
  const auto document = parse_toml("\xef\xbb\xbf# \xc3\xa9\n  # \xd2\x8a\na = \"\\u00e9\"\n", "f");
  ASSERT_TRUE(document) << document.error().what;
  EXPECT_EQ(std::get<std::string>(document->front().value.value), "\xc3\xa9");
  EXPECT_EQ(document->front().value.line, 3U);
  // Undefined in toml++ 3.3.
  EXPECT_EQ(parse_toml("a = 1\n\xd2\x8a = 2\n", "f").error().what, "f:2: a letter that is not ASCII");
}

TEST(TomlDocument, RefusesEndlessText) {
  EXPECT_FALSE(parse_toml(std::string(kMaxTomlBytes + 1, '\n'), "f"));
  EXPECT_TRUE(parse_toml(std::string(kMaxTomlBytes, '\n'), "f"));
}

std::string repeated(const std::string& text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

TEST(TomlDocument, RefusesDeepNesting) {
  EXPECT_FALSE(parse_toml("a = " + std::string(100'000, '['), "f"));
  EXPECT_FALSE(parse_toml(repeated("a = {", 100'000), "f"));
  const auto keys = parse_toml("\n" + repeated("a.", 200'000) + "b = 1\n", "f");
  ASSERT_FALSE(keys);
  EXPECT_EQ(keys.error().what, "f:2: there are more than 16 dots: keys have a few parts");
  EXPECT_FALSE(parse_toml("[" + repeated("a . ", 200'000) + "b]\n", "f"));
  EXPECT_FALSE(parse_toml("a = { " + repeated("\"x\".", 200'000) + "b = 1 }\n", "f"));
  EXPECT_FALSE(parse_toml("a = [" + repeated("{ " + repeated("a.", 16) + "b = [\n", 1'000), "f"));
}

TEST(TomlDocument, TakesDotsInTextsAndComments) {
  const std::string dots(100, '.');
  const auto document = parse_toml("a = \"\\\"" + dots + "\" # " + dots + "\nb = '" + dots + "'\n", "f");
  ASSERT_TRUE(document) << document.error().what;
  EXPECT_EQ(std::get<std::string>(document->back().value.value), dots);
}

}  // namespace
}  // namespace hawk
