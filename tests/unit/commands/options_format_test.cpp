#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <string>

#include "userspace/base/unique_fd.h"
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
              std::string("--report-every: a file in the format ") + format.name + " holds a single report");
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

TEST(OptionFormats, ATerminalIsSentNothingButText) {
  const UniqueFd master(::posix_openpt(O_RDWR | O_NOCTTY));
  ASSERT_EQ(::grantpt(master.get()), 0);
  ASSERT_EQ(::unlockpt(master.get()), 0);
  for (const Format& format : formats()) {
    ReportOptions options;
    options.format = &format;
    options.output_path = ::ptsname(master.get());
    const Result<ReportOutput> output = options.open_output();
    ASSERT_EQ(output.has_value(), format.is_text) << format.name;
    if (output) continue;
    EXPECT_EQ(output.error().exit_code, ExitCode::kUsage);
    EXPECT_EQ(output.error().what,
              std::string("a report in the format ") + format.name + " is not text, and stdout is a terminal");
    EXPECT_EQ(output.error().hint, std::string("write it to a file: -o heap.") + format.extension);
  }
}

}  // namespace
}  // namespace hawk
