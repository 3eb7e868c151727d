#include "userspace/commands/view_options.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "userspace/commands/report_options.h"

namespace hawk {
namespace {

const Format& format_of(std::string_view name) {
  for (const Format& format : formats()) {
    if (format.name == name) return format;
  }
  ADD_FAILURE() << name;
  return formats().front();
}

TEST(ViewOptions, PatternsAreChecked) {
  EXPECT_EQ(parse_pattern({"--hide", "a|b+"})->text(), "a|b+");
  for (const char* wrong : {"(", "[a", "a{2", "*(", ""}) {
    const Result<CallPattern> pattern = parse_pattern({"--focus", wrong});
    ASSERT_FALSE(pattern) << wrong;
    EXPECT_EQ(pattern.error().exit_code, ExitCode::kUsage);
    EXPECT_NE(pattern.error().what.find("--focus: '" + std::string(wrong) + "' is not a regular expression"),
              std::string::npos)
        << pattern.error().what;
  }
}

TEST(ViewOptions, PatternsThatWouldTakeAllMemoryAreRefused) {
  EXPECT_TRUE(parse_pattern({"--focus", std::string(4096, 'a')}));
  const Result<CallPattern> pattern = parse_pattern({"--focus", std::string(4097, 'a')});
  ASSERT_FALSE(pattern);
  EXPECT_EQ(pattern.error().exit_code, ExitCode::kUsage);
}

TEST(ViewOptions, GroupingsThatExcludeEachOtherAreRefused) {
  EXPECT_TRUE(check_grouping({}, format_of("pprof")));
  EXPECT_TRUE(check_grouping({.by = GroupKind::kFile, .cumulative_first = true}, format_of("text")));
  EXPECT_TRUE(check_grouping({.tree = TreeDirection::kTopDown}, format_of("json")));
  EXPECT_FALSE(check_grouping({.by = GroupKind::kFile, .tree = TreeDirection::kTopDown}, format_of("text")));
  EXPECT_FALSE(check_grouping({.cumulative_first = true}, format_of("text")));
  EXPECT_FALSE(check_grouping({.by = GroupKind::kFile}, format_of("pprof")));
  EXPECT_FALSE(check_grouping({.tree = TreeDirection::kTopDown}, format_of("pprof")));
}

TEST(ViewOptions, GroupingsByProcessesAreForAllThatHoldsThem) {
  const Grouping by_process = {.by = GroupKind::kProcess};
  const Grouping as_trees = {.by = GroupKind::kExecutable, .tree = TreeDirection::kBottomUp};
  for (const Format& format : formats()) {
    EXPECT_EQ(check_grouping(by_process, format).has_value(), format.groups != Format::Groups::kNone) << format.name;
    EXPECT_EQ(check_grouping(as_trees, format).has_value(), format.groups == Format::Groups::kAll) << format.name;
  }
}

TEST(ViewOptions, AFormatThatHoldsStacksIsNotOpenedForGroups) {
  ReportOptions options;
  options.grouping.by = GroupKind::kFile;
  for (const Format& format : formats()) {
    options.format = &format;
    options.output_path = "/dev/null";
    const std::string name = format.name;
    EXPECT_EQ(options.open_output().has_value(), name == "text" || name == "json") << name;
  }
}

}  // namespace
}  // namespace hawk
