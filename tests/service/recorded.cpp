#include "tests/service/recorded.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/kernel/harness/compare.h"
#include "tests/kernel/harness/recorder.h"
#include "tests/kernel/harness/report.h"
#include "tests/support/scratch_directory.h"

namespace hawk {

void expect_recorded(const std::string& recording, pid_t pid, const Ledger& ledger) {
  SCOPED_TRACE(recording + ", process " + std::to_string(pid));
  const ScratchDirectory directory;
  const std::string path = directory.path("report");
  std::ofstream(path) << report_of(recording, {"--format", "json", "--top", "0", "--target", std::to_string(pid)});
  Report report = read_report(path);
  report.verified = true;  // the daemon does not compare its counters with the live table
  expect_equal(report, ledger);
  EXPECT_TRUE(report.target_exited);
}

}  // namespace hawk
