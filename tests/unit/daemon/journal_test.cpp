#include "userspace/daemon/journal.h"

#include <gtest/gtest.h>

namespace hawk {
namespace {

using namespace std::string_literals;

TEST(Journal, WritesFieldsInLines) {
  EXPECT_EQ(
      journal_bytes({.priority = JournalPriority::kWarning, .message = "ended", .fields = {{"HAWKTRACE_PID", "7"}}}),
      "MESSAGE=ended\nPRIORITY=4\nSYSLOG_IDENTIFIER=hawktrace\nHAWKTRACE_PID=7\n");
}

TEST(Journal, WritesTheLengthOfWhatHasLines) {
  EXPECT_EQ(journal_bytes({.message = "a\nb"}),
            "MESSAGE\n\x03\0\0\0\0\0\0\0a\nb\nPRIORITY=6\nSYSLOG_IDENTIFIER=hawktrace\n"s);
}

/// A target that calls itself "x\nPRIORITY=0" adds no field, and no line to others'.
TEST(Journal, TakesNothingFromNames) {
  const std::string bytes = journal_bytes({.message = "m", .fields = {{"HAWKTRACE_TARGET", "x\nPRIORITY=0\x1b[2J"}}});
  EXPECT_EQ(bytes.find("\nPRIORITY=0"), std::string::npos);
  EXPECT_EQ(bytes.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace hawk
