// The command lines of the commands about recordings.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "userspace/commands/record.h"
#include "userspace/commands/report.h"

namespace hawk {
namespace {

using Words = std::vector<std::string>;

/// "WHAT / HINT" of a command line that must be refused.
std::string refusal_of(Result<int> (*command)(int, const char* const*), const Words& words) {
  std::vector<const char*> argv{"hawktrace", "command"};
  for (const std::string& word : words) argv.push_back(word.c_str());
  const Result<int> status = command(static_cast<int>(argv.size()), argv.data());
  if (status) return "no error";
  return std::to_string(static_cast<int>(status.error().exit_code)) + ": " + status.error().what + " / " +
         status.error().hint;
}

TEST(RecordOptions, WhatCannotBeRecordedIsRefused) {
  EXPECT_EQ(refusal_of(record_command, {}),
            "2: nothing to trace: neither -p PID nor -- COMMAND was given / hawktrace record -p PID, or hawktrace "
            "record -- COMMAND; hawktrace record --help lists other ways");
  EXPECT_EQ(refusal_of(record_command, {"-p", "1", "--report-every", "1"}),
            "2: --report-every: no such option / hawktrace record --help lists all options");
  EXPECT_EQ(refusal_of(record_command, {"-p1", "-o", ""}),
            "2: --output: '' is not a file name / omit the option to use the default name");
}

TEST(ReportOptions, OneRecordingIsNeeded) {
  EXPECT_EQ(refusal_of(report_command, {}), "2: no recording was named / hawktrace report FILE");
  EXPECT_EQ(refusal_of(report_command, {"a", "b"}), "2: 'b': unexpected argument / give one recording");
  EXPECT_EQ(refusal_of(report_command, {"a", "--formta", "json"}),
            "2: --formta: no such option / did you mean --format?");
  EXPECT_EQ(refusal_of(report_command, {"a", "--format", "jsom"}).substr(0, 32), "2: --format: 'jsom' is not one o");
  EXPECT_EQ(refusal_of(report_command, {"/does/not/exist"}), "6: read /does/not/exist: No such file or directory / ");
}

TEST(ExportOptions, TheFormatMustBeNamed) {
  EXPECT_EQ(refusal_of(export_command, {"a"}),
            "2: --to: the format is missing / hawktrace export --help lists all options");
}

}  // namespace
}  // namespace hawk
