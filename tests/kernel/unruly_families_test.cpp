// Children that are hard to follow: ledgers/unruly_family.c, ledgers/odd_births.c.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/kernel/harness/kernel_test.h"
#include "tests/kernel/harness/ledger.h"
#include "tests/kernel/harness/own_libc.h"
#include "tests/kernel/harness/traced_family.h"
#include "tests/support/file_content.h"
#include "tests/support/scratch_directory.h"

namespace hawk {
namespace {

constexpr Way kFollowWays[] = {Way::kPointsArena, Way::kPerfHash};
constexpr Way kPointsWay[] = {Way::kPointsArena};
constexpr Way kFileWays[] = {Way::kPointsArena, Way::kSessionArena};

nlohmann::json trace_unruly(Way way, const ScratchDirectory& directory, std::vector<std::string> family,
                            std::vector<std::string> options = {}, const std::string& program = "unruly_family") {
  family.insert(family.begin(), ledger_path(program));
  options.emplace_back("--hold");
  return trace_command(way, directory, beside_own_libc(directory, family), options);
}

bool runs(const nlohmann::json& target, const std::string& program) {
  // Not known of one that has ended too early.
  return target.at("exe").is_string() &&
         std::filesystem::path(target.at("exe").get<std::string>()).filename() == program;
}
bool misses_breakpoints(const nlohmann::json& target) {
  return target.at("losses").at("missing_breakpoints").get<std::size_t>() > 0;
}

void expect_missing_breakpoints(const nlohmann::json& report, std::size_t in_targets) {
  std::size_t found = 0;
  std::string each;
  for (const nlohmann::json& target : report.at("targets")) {
    if (misses_breakpoints(target)) ++found;
    each += target.at("comm").dump() + " " + target.at("losses").dump() + "\n";
  }
  EXPECT_EQ(found, in_targets) << each;
}

void expect_unruly(Way way, const std::string& how, const std::string& count, std::size_t processes,
                   const std::vector<std::string>& options = {}, const std::string& program = "unruly_family") {
  const ScratchDirectory directory;
  const std::string ledger = directory.path("ledger");
  const nlohmann::json report = trace_unruly(way, directory, {how, ledger, count}, options, program);
  EXPECT_TRUE(report.at("exact").get<bool>()) << report.at("losses");
  EXPECT_EQ(said_by(ledger).size(), processes);
  // Others are those of the command that has begun the family.
  const std::vector<OfProcess> said = said_by(ledger), traced = traced_in(report);
  EXPECT_TRUE(std::includes(traced.begin(), traced.end(), said.begin(), said.end())) << report.at("targets");
}

KERNEL_TEST_ON(unruly_families, zombies, kFollowWays) { expect_unruly(way, "zombies", "20", 21); }
KERNEL_TEST_ON(unruly_families, debugged_children, kFollowWays) { expect_unruly(way, "debugger", "4", 5); }
KERNEL_TEST_ON(unruly_families, siblings, kFollowWays) { expect_unruly(way, "siblings", "12", 13); }
KERNEL_TEST_ON(unruly_families, nested_namespaces, kFollowWays) { expect_unruly(way, "nested", "6", 7); }
KERNEL_TEST_ON(unruly_families, threads_that_fork_at_once, kFollowWays) {
  expect_unruly(way, "forking_threads", "40", 41);
}

KERNEL_TEST_ON(unruly_families, by_links_for_files, kFileWays) {
  expect_unruly(way, "zombies", "12", 13, {"--links", "file"});
  expect_unruly(way, "nested", "6", 7, {"--links", "file"});
  expect_unruly(way, "forking_threads", "16", 17, {"--links", "file"});
}

/// ledgers/odd_births.c.
void expect_odd_births(Way way, const std::vector<std::string>& options) {
  struct Case {
    const char* how;
    const char* count;
    std::size_t processes;
  };
  for (const Case& births :
       {Case{"numbers", "6", 7}, Case{"vforks", "6", 7}, Case{"execs", "60", 5}, Case{"deep", "40", 41},
        Case{"leaving", "20", 21}, Case{"sharers", "6", 4}, Case{"racing", "6", 7}, Case{"stopped", "6", 7}}) {
    SCOPED_TRACE(births.how);
    expect_unruly(way, births.how, births.count, births.processes, options, "odd_births");
  }
}
KERNEL_TEST_ON(unruly_families, odd_births, kFollowWays) { expect_odd_births(way, {}); }
KERNEL_TEST_ON(unruly_families, odd_births_by_links_for_files, kPointsWay) {
  expect_odd_births(way, {"--links", "file"});
}

/// ledgers/forks_in_new.cpp.
nlohmann::json trace_forks_in_new(Way way, const char* where) {
  const ScratchDirectory directory;
  const std::string ledger = directory.path("ledger");
  nlohmann::json report = trace_command(way, directory, {ledger_path("forks_in_new"), where, ledger}, {"--hold"});
  std::uint64_t said = 0, traced = 0;
  for (const OfProcess& process : said_by(ledger)) said += process.allocated_count;
  for (const nlohmann::json& stack : report.at("stacks")) {
    if (stack.dump().find("take_from_pool") != std::string::npos)
      traced += stack.at("allocated_count").get<std::uint64_t>();
  }
  EXPECT_EQ(said, traced) << where;
  return report;
}

/// Made inside an allocating call, of which they have a copy.
KERNEL_TEST_ON(unruly_families, children_made_inside_a_call, kFollowWays) {
  const nlohmann::json inside = trace_forks_in_new(way, "inside");
  EXPECT_FALSE(inside.at("exact").get<bool>());
  EXPECT_EQ(inside.at("losses").at("lost_calls"), 1U) << inside.at("losses");
  const nlohmann::json behind = trace_forks_in_new(way, "behind");
  EXPECT_TRUE(behind.at("exact").get<bool>()) << behind.at("losses");
}

/// They end in the middle of anything, which is no loss: in the call by which code is mapped, too, in which the kernel
/// leaves out the breakpoints then.
KERNEL_TEST_ON(unruly_families, killed_children, kFollowWays) {
  constexpr std::size_t kChildren = 60;
  const ScratchDirectory directory;
  const std::string ledger = directory.path("ledger");
  const nlohmann::json report = trace_unruly(way, directory, {"massacre", ledger, std::to_string(kChildren)});
  EXPECT_TRUE(report.at("exact").get<bool>()) << report.at("losses");
  const std::vector<OfProcess> said = said_by(ledger), traced = traced_in(report);
  ASSERT_EQ(said.size(), 1U);
  EXPECT_GE(traced.size(), kChildren + 1);
  EXPECT_EQ(std::count(traced.begin(), traced.end(), said.front()), 1);
}

/// They end before hawktrace has heard of them, most of them. Links are chosen: if probes were extended to all
/// processes meanwhile, the breakpoints would be put back.
KERNEL_TEST_ON(unruly_families, children_that_drop_their_breakpoints, kFollowWays) {
  constexpr std::size_t kChildren = 40;
  const ScratchDirectory directory;
  const std::string ledger = directory.path("ledger");
  const std::vector<std::string> family = {ledger_path("unruly_family"), "droppers", ledger, std::to_string(kChildren)};
  const nlohmann::json report =
      trace_with_warnings(way, directory, beside_own_libc(directory, family), {"--hold", "--links", "process"});
  EXPECT_EQ(said_by(ledger).size(), kChildren + 1);
  expect_missing_breakpoints(report, kChildren);
}

/// The kernel takes the perf events from them that are their probes. What is missed is counted, even if they have ended
/// before hawktrace looks at them.
KERNEL_TEST_ON(unruly_families, programs_of_another_user, kFollowWays) {
  constexpr std::size_t kChildren = 8;
  const ScratchDirectory directory;
  const std::string ledger = directory.path("ledger"), program = directory.path("unruly_other");
  write_file(ledger, "");
  std::filesystem::permissions(directory.path(""), std::filesystem::perms(0755));
  std::filesystem::permissions(ledger, std::filesystem::perms(0666));
  std::filesystem::copy_file(ledger_path("unruly_family"), program);
  ASSERT_EQ(::chown(program.c_str(), 65534, 65534), 0);
  ASSERT_EQ(::chmod(program.c_str(), 04755), 0);
  const std::vector<std::string> family = {ledger_path("unruly_family"), "executes", ledger, std::to_string(kChildren),
                                           program};
  const nlohmann::json report = trace_with_warnings(way, directory, beside_own_libc(directory, family), {"--hold"});
  EXPECT_EQ(said_by(ledger).size(), kChildren + 1);
  EXPECT_FALSE(report.at("exact").get<bool>());
  const nlohmann::json& targets = report.at("targets");
  for (const nlohmann::json& target : targets) {
    EXPECT_TRUE(misses_breakpoints(target) || !runs(target, "unruly_other")) << target;
  }
  expect_missing_breakpoints(report, kChildren);
}

}  // namespace
}  // namespace hawk
