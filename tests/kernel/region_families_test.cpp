// What families of processes map (--mappings): of each of them, however short its life, as much as it writes down
// itself, and as much of each kind as the kernel says.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "tests/kernel/harness/child_process.h"
#include "tests/kernel/harness/kernel_test.h"
#include "tests/kernel/harness/ledger.h"
#include "tests/kernel/harness/own_libc.h"
#include "tests/kernel/harness/recorder.h"
#include "tests/kernel/harness/region_compare.h"
#include "tests/kernel/harness/report.h"
#include "tests/kernel/harness/traced_family.h"
#include "tests/support/kernel_release.h"
#include "tests/support/scratch_directory.h"
#include "tests/support/smaps.h"

namespace hawk {
namespace {

constexpr Way kFollowWays[] = {Way::kPointsArena, Way::kPerfHash};

std::map<std::string, std::uint64_t> read_lines(const std::string& path) {
  std::map<std::string, std::uint64_t> values;
  std::ifstream file(path);
  std::string name;
  for (std::uint64_t number = 0; file >> name >> number;) values[name] = number;
  return values;
}

/// Whether hawktrace could follow it: a kernel that preempts itself may pass programs over, which nobody can prevent,
/// and is counted. Then nothing was compared.
bool compare_family(Way way, const std::string& how, const std::string& count, std::size_t processes) {
  const ScratchDirectory directory;
  const std::string family = directory.path("family"), recording = directory.path("recording");
  std::filesystem::create_directory(family);
  // Of a process that ends before the first reading nothing can be asked.
  ChildProcess hawktrace({.argv = {HAWKTRACE_PATH, "record", "--mappings", "--attach-via", attach_via(way),
                                   "--live-table", live_table(way), "--interval", "1h", "-q", "-o", recording, "--",
                                   ledger_path("region_family"), family, how, count},
                          .environment = with_own_libc(directory)});
  EXPECT_EQ(hawktrace.read_to_end(), "");
  EXPECT_EQ(hawktrace.wait(), 0) << hawktrace.errors();
  std::size_t compared = 0;
  for (const auto& entry : std::filesystem::directory_iterator(family)) {
    if (entry.path().extension() != ".maps") continue;
    const std::string pid = entry.path().stem();
    SCOPED_TRACE(pid);
    report_of(recording, {"--target", pid, "--format", "json", "--top", "0", "-q", "-o", directory.path("report")});
    const Report report = read_report(directory.path("report"));
    if (report.losses.at("passed_over") != 0) {
      EXPECT_FALSE(report.numbers_exact);
      return false;
    }
    expect_mapped(report, mapped_by_kind(entry.path().string()));
    expect_regions(report, read_lines(family + "/" + pid + ".ledger"));
    ++compared;
  }
  EXPECT_EQ(compared, processes);
  return true;
}

void expect_family_of_regions(Way way, const std::string& how, const std::string& count, std::size_t processes) {
  if (!kernel_is_at_least(6, 13)) {
    ChildProcess hawktrace({.argv = {HAWKTRACE_PATH, "--follow", "--attach-via", attach_via(way), "--live-table",
                                     live_table(way), "--", "true"}});
    EXPECT_EQ(hawktrace.wait(), 4) << hawktrace.errors();
    EXPECT_NE(hawktrace.errors().find("Linux 6.13"), std::string::npos) << hawktrace.errors();
    return;
  }
  constexpr int kTries = 5;
  int tries = 1;
  while (!compare_family(way, how, count, processes) && ++tries <= kTries && !testing::Test::HasFailure()) {
  }
  EXPECT_LE(tries, kTries) << "each time a program was passed over";
}

KERNEL_TEST_ON(region_families, forks, kFollowWays) { expect_family_of_regions(way, "forks", "7", 11); }
KERNEL_TEST_ON(region_families, chains_of_execs, kFollowWays) { expect_family_of_regions(way, "chain", "5", 4); }
KERNEL_TEST_ON(region_families, vfork_and_posix_spawn, kFollowWays) {
  expect_family_of_regions(way, "vforks", "3", 10);
}
KERNEL_TEST_ON(region_families, sharers_that_execute, kFollowWays) { expect_family_of_regions(way, "sharers", "4", 5); }
/// Their stacks are whole while their files, which are known, become known as theirs.
KERNEL_TEST_ON(region_families, programs_that_map_all_the_time, kFollowWays) {
  expect_family_of_regions(way, "busy", "4", 5);
}
KERNEL_TEST_ON(region_families, forks_while_threads_map, kFollowWays) {
  expect_family_of_regions(way, "threads", "12", 13);
}
KERNEL_TEST_ON(region_families, regions_that_grow_downwards, kFollowWays) {
  expect_family_of_regions(way, "growing", "3", 4);
}

KERNEL_TEST_ON(region_families, threads_that_execute, kFollowWays) {
  expect_family_of_regions(way, "thread_execs", "4", 5);
}

}  // namespace
}  // namespace hawk
