// The daemon follows the processes that a target starts.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <string>

#include "tests/kernel/harness/ledger.h"
#include "tests/kernel/harness/own_libc.h"
#include "tests/kernel/harness/recorder.h"
#include "tests/kernel/harness/traced_family.h"
#include "tests/service/daemon_process.h"
#include "tests/support/scratch_directory.h"

namespace hawk {
namespace {

constexpr const char* kFollows = "follow-children = true";

/// Expects that the daemon records each process of a family as that says of itself: what it has freed of its maker's
/// blocks as inherited, and not as a loss. `meanwhile`: what is done with the daemon while the family is at work.
void expect_followed(
    const std::string& how, const std::string& count, std::size_t processes, const std::string& program = "family",
    const std::function<void(DaemonProcess&)>& meanwhile = [](DaemonProcess&) {}) {
  const ScratchDirectory directory;
  std::map<std::string, std::string> environment = with_own_libc(directory);
  environment["FAMILY_WAITS"] = "1";
  const std::string ledger = directory.path("ledger");
  DaemonProcess daemon(target_of("web", ledger_path(program), kFollows));
  ChildProcess family({.argv = {ledger_path(program), how, ledger, count}, .environment = environment});
  EXPECT_EQ(family.read_line(), "ready");
  daemon.wait_for_processes(1, 1);
  family.send_byte();
  meanwhile(daemon);
  EXPECT_EQ(family.wait(), 0);
  daemon.wait_until_all_have_ended();
  EXPECT_EQ(daemon.metric("hawktrace_traces_begun_total{target=\"web\"}"), processes);
  daemon.finish();
  const auto report = nlohmann::json::parse(report_of(daemon.recording("web"), {"--format", "json"}));
  EXPECT_TRUE(report.at("exact").get<bool>());
  EXPECT_EQ(said_by(ledger).size(), processes);
  EXPECT_EQ(traced_in(report), said_by(ledger));
}

TEST(daemon, follows_workers_that_free_what_they_have_inherited) { expect_followed("prefork", "8", 9); }
TEST(daemon, follows_children_that_run_another_program) { expect_followed("vfork", "6", 7); }
TEST(daemon, follows_children_of_children) { expect_followed("chain", "5", 5); }
/// The next one has the number before it is known that the one before has ended.
TEST(daemon, follows_children_that_all_have_one_number) { expect_followed("same_number", "40", 41, "odd_births"); }

/// Processes are looked for whenever the configuration is read again, and those are found that a traced one has just
/// made.
TEST(daemon, follows_children_that_it_also_looks_for) {
  expect_followed("numbers", "60", 61, "odd_births", [](DaemonProcess& daemon) {
    for (int i = 0; i < 20; ++i) daemon.reload(target_of("web", ledger_path("odd_births"), kFollows));
  });
}

}  // namespace
}  // namespace hawk
