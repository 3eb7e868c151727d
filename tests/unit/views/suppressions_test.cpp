#include "userspace/views/suppressions.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "tests/support/scratch_directory.h"
#include "tests/unit/report/sample_snapshots.h"

namespace hawk {
namespace {

struct TemplateCase {
  const char* rule;
  const char* text;
  bool matches;
};

TEST(SuppressionTemplate, HasTheMeaningOfLeakSanitizers) {
  const TemplateCase cases[] = {
      {"foo", "a_foo_b", true},
      {"foo", "fo", false},
      {"foo", "", false},
      {"^foo", "foo_b", true},
      {"^foo", "a_foo", false},
      {"foo$", "a_foo", true},
      {"foo$", "foo_b", false},
      {"foo$", "foo_foo", true},
      {"^foo$", "foo", true},
      {"^foo$", "foofoo", false},
      {"a*c", "xabbcx", true},
      {"a*c", "xcba", false},
      {"^a*c$", "abcbc", true},
      {"^a*c$", "abcb", false},
      {"^a*b*c$", "a1b2c", true},
      {"^a*a$", "a", false},
      {"*", "x", true},
      {"*", "", false},
      {"**", "x", true},
      {"a**b", "ab", true},
      {"^*foo", "xfoo", true},
      {"foo*$", "foox", true},
      {"Foo$Bar", "Foo$Bar", true},
      {"^*$", "anything", true},
      {"lib*.so", "/x/liba.so.6", true},
  };
  for (const TemplateCase& example : cases) {
    EXPECT_EQ(SuppressionTemplate(example.rule).matches(example.text), example.matches)
        << example.rule << " on " << example.text;
  }
}

TEST(SuppressionTemplate, LongTextsTakeTimeInProportion) {
  std::string stars;
  for (int i = 0; i < 1000; ++i) stars += "a*";
  EXPECT_FALSE(SuppressionTemplate(stars + "b").matches(std::string(1 << 20, 'a')));
}

TEST(Suppressions, AreLinesWithCommentsAndSpaces) {
  const Result<Suppressions> read = parse_suppressions("# known\n\n  leak:first  \r\nleak:second", "x.supp");
  ASSERT_TRUE(read) << read.error().what;
  ASSERT_EQ(read->rules.size(), 2U);
  EXPECT_EQ(read->rules[0].text(), "first");
  EXPECT_EQ(read->rules[1].text(), "second");
  EXPECT_TRUE(parse_suppressions("", "x.supp")->rules.empty());
}

TEST(Suppressions, WhatIsNoRuleIsNamedWithItsLine) {
  for (const char* wrong : {"race:foo", "leak", "leak:", "foo", "leak :x"}) {
    const Result<Suppressions> read = parse_suppressions(std::string("leak:a\n") + wrong + "\nleak:b\n", "x.supp");
    ASSERT_FALSE(read) << wrong;
    EXPECT_EQ(read.error().exit_code, ExitCode::kFile);
    EXPECT_EQ(read.error().what, "read suppressions: x.supp, line 2: '" + std::string(wrong) + "' is not a rule");
  }
  EXPECT_EQ(parse_suppressions("\x1b[2J", "x").error().what.find('\x1b'), std::string::npos);
}

TEST(Suppressions, AreReadFromAFile) {
  const ScratchDirectory directory;
  const std::string path = directory.path() + "/leaks.supp";
  std::ofstream(path) << "leak:known\n";
  EXPECT_EQ(read_suppressions(path)->rules.size(), 1U);
  EXPECT_EQ(read_suppressions(path)->path, path);
  const Result<Suppressions> missing = read_suppressions(directory.path() + "/none");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().exit_code, ExitCode::kFile);
  EXPECT_FALSE(read_suppressions(directory.path())) << "a directory";
}

TEST(Suppressions, LookAtFunctionsFilesAndModules) {
  const Sample sample = service_sample();
  const ListedFrame call = {
      .location = {.address = 1, .module = ModuleId{0}},
      .source = {.function = "shop::Cache::warm(std::vector<int>&)", .file = "/build/cache.cpp", .line = 22},
      .name = "shop::Cache::warm"};
  for (const char* rule : {"Cache::warm", "^shop::Cache::warm$", "(std::vector", "cache.cpp$", "^/opt/shop*server$"}) {
    const Suppressions suppressions = {.path = "x",
                                       .rules = {SuppressionTemplate("nothing"), SuppressionTemplate(rule)}};
    EXPECT_EQ(suppressions.rule_of(call, sample.snapshot), std::optional<std::size_t>(1)) << rule;
  }
  const Suppressions other = {.path = "x", .rules = {SuppressionTemplate("cache.h")}};
  EXPECT_EQ(other.rule_of(call, sample.snapshot), std::nullopt);
}

}  // namespace
}  // namespace hawk
