// Ctrl-C while something that a target chose keeps hawktrace waiting.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>

#include "tests/kernel/harness/child_process.h"
#include "tests/kernel/harness/report.h"
#include "tests/support/scratch_directory.h"

namespace hawk {
namespace {

/// More than files of file systems that do not answer may take.
constexpr std::chrono::seconds kInTime{20};

TEST(hostile_signals, end_the_trace_while_a_file_is_awaited) {
  const ScratchDirectory directory;
  ChildProcess target({.argv = {HAWK_HOSTILE_DIR "/fuse_files", "reads"}});
  ASSERT_EQ(target.read_line(), "ready");
  const std::string report = directory.path("report.json");
  ChildProcess hawktrace(
      {.argv = {HAWKTRACE_PATH, "-p", std::to_string(target.pid()), "--format", "json", "-o", report}});
  // The process that reads the file on its behalf.
  while (children_of(hawktrace.pid()).empty()) {
  }
  const auto asked = std::chrono::steady_clock::now();
  hawktrace.send_signal(SIGINT);
  EXPECT_EQ(hawktrace.wait(), 0) << hawktrace.errors();
  EXPECT_LT(std::chrono::steady_clock::now() - asked, kInTime);
  EXPECT_GT(read_report(report).losses.at("functions_not_probed"), 0u);
  target.send_byte();
  while (target.read_line() != "done") {
  }
  target.close_input();
  EXPECT_EQ(target.wait(), 0);
}

}  // namespace
}  // namespace hawk
