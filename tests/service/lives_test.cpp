// Ages, sizes and lifetimes of blocks in the recordings of the daemon.
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>

#include "tests/kernel/harness/ledger.h"
#include "tests/kernel/harness/recorder.h"
#include "tests/kernel/harness/report.h"
#include "tests/service/daemon_process.h"
#include "tests/service/recorded.h"
#include "tests/support/scratch_directory.h"

namespace hawk {
namespace {

/// Records ledgers/ends.c until it is killed; returns the recording.
std::string record_ends(DaemonProcess& daemon) {
  LedgerProgram program({.program = "ends", .arguments = {"wait"}});
  daemon.wait_for_processes(1, 1);
  const Ledger ledger = program.run();
  program.send_signal(SIGKILL);
  EXPECT_EQ(program.wait(), 128 + SIGKILL);
  daemon.wait_for_processes(0, 0);
  daemon.finish();
  expect_recorded(daemon.recording("web"), program.pid(), ledger);
  return daemon.recording("web");
}

Report report_with(const std::string& recording, const std::string& option, const std::string& value = {}) {
  Words words = {"--format", "json", "--top", "0", option};
  if (!value.empty()) words.push_back(value);
  const ScratchDirectory directory;
  const std::string path = directory.path("report");
  std::ofstream(path) << report_of(recording, words);
  return read_report(path);
}

TEST(daemon, records_the_lives_of_blocks_where_it_is_to) {
  DaemonProcess daemon(target_of("web", ledger_path("ends"), "record-ages = true\nrecord-histograms = true\n"));
  const std::string recording = record_ends(daemon);
  const Report report = report_with(recording, "--histograms");
  ASSERT_FALSE(report.stacks.empty());
  for (const ReportStack& stack : report.stacks) {
    std::uint64_t sized = 0;
    for (const auto& [least, count] : stack.sizes) sized += count;
    EXPECT_EQ(sized, stack.numbers.allocated_count) << stack.text();
  }
  ASSERT_NE(report.live.allocated_bytes, 0u);
  EXPECT_EQ(report_with(recording, "--max-age", "1h").live.allocated_bytes, report.live.allocated_bytes);
  EXPECT_EQ(report_with(recording, "--min-age", "1h").live.allocated_bytes, 0u);
}

TEST(daemon, records_no_lives_of_blocks_by_default) {
  constexpr int kUsage = 2;
  DaemonProcess daemon(target_of("web", ledger_path("ends")));
  const std::string recording = record_ends(daemon);
  report_of(recording, {"--histograms"}, kUsage);
  report_of(recording, {"--min-age", "1s"}, kUsage);
}

}  // namespace
}  // namespace hawk
