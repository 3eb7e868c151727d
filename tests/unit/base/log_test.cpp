#include "userspace/base/log.h"

#include <gtest/gtest.h>

#include <string>

namespace hawk {
namespace {

/// What `write` sends to stderr at `level`; stdout must stay empty, because it is the data channel.
template <class Write>
std::string stderr_of(Verbosity level, Write write) {
  const Verbosity before = verbosity();
  set_verbosity(level);
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  write();
  std::string written = testing::internal::GetCapturedStderr();
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  set_verbosity(before);
  return written;
}

TEST(Log, ErrorHasHintOnALineOfItsOwn) {
  const Error error{ExitCode::kFile, "open /nowhere: No such file or directory", "create it first"};
  EXPECT_EQ(stderr_of(Verbosity::kQuiet, [&] { log_error(error); }),
            "hawktrace: error: open /nowhere: No such file or directory\nhint: create it first\n");
}

TEST(Log, ErrorWithoutHintIsOneLine) {
  const Error error{ExitCode::kFile, "it broke", ""};
  EXPECT_EQ(stderr_of(Verbosity::kNormal, [&] { log_error(error); }), "hawktrace: error: it broke\n");
}

TEST(Log, WarningSurvivesQuiet) {
  EXPECT_EQ(stderr_of(Verbosity::kQuiet, [] { log_warning("careful"); }), "hawktrace: warning: careful\n");
}

TEST(Log, InfoIsSilencedByQuietOnly) {
  const auto write = [] { log_info("attached"); };
  EXPECT_EQ(stderr_of(Verbosity::kQuiet, write), "");
  EXPECT_EQ(stderr_of(Verbosity::kNormal, write), "hawktrace: attached\n");
  EXPECT_EQ(stderr_of(Verbosity::kVerbose, write), "hawktrace: attached\n");
}

TEST(Log, VerboseNeedsVerbose) {
  const auto write = [] { log_verbose("probe at +9"); };
  EXPECT_EQ(stderr_of(Verbosity::kQuiet, write), "");
  EXPECT_EQ(stderr_of(Verbosity::kNormal, write), "");
  EXPECT_EQ(stderr_of(Verbosity::kVerbose, write), "hawktrace: probe at +9\n");
}

TEST(Log, BracesInAMessageAreText) {
  EXPECT_EQ(stderr_of(Verbosity::kNormal, [] { log_info("{} {0} {{"); }), "hawktrace: {} {0} {{\n");
}

}  // namespace
}  // namespace hawk
