#include <gtest/gtest.h>

#include <string>

#include "userspace/commands/options.h"

// What the command line makes of --format.
namespace hawk {
namespace {

Result<ParsedOptions> parse_with(const char* format, bool several) {
  const char* const argv[] = {"hawktrace", "-p1", "--format", format, "--report-every", "10"};
  return parse_options(several ? 6 : 4, argv);
}

TEST(OptionFormats, SeveralReportsNeedAFormatThatCanHoldThem) {
  for (const Format& format : formats()) {
    EXPECT_TRUE(parse_with(format.name, false)) << format.name;
    const Result<ParsedOptions> parsed = parse_with(format.name, true);
    ASSERT_EQ(parsed.has_value(), format.can_follow) << format.name;
    if (parsed) continue;
    EXPECT_EQ(parsed.error().exit_code, ExitCode::kUsage);
    EXPECT_EQ(parsed.error().what,
              std::string("--report-every: a file of the format ") + format.name + " holds a single report");
    EXPECT_EQ(parsed.error().hint, "leave it out, or choose a format that can hold several: --format text or json");
  }
}

TEST(OptionFormats, ARefusalNamesThemAll) {
  std::string names;
  for (const Format& format : formats()) names += (names.empty() ? "" : ", ") + std::string(format.name);
  const Result<ParsedOptions> parsed = parse_with("jsn", false);
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().what, "--format: 'jsn' is not one of " + names);
  EXPECT_EQ(parsed.error().hint, "did you mean 'json'?");
}

}  // namespace
}  // namespace hawk
