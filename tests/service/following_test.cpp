// The daemon follows the processes that a target starts.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <map>
#include <string>

#include "tests/kernel/harness/ledger.h"
#include "tests/kernel/harness/recorder.h"
#include "tests/kernel/harness/traced_family.h"
#include "tests/service/daemon_process.h"
#include "tests/support/scratch_directory.h"

namespace hawk {
namespace {

/// Expects that the daemon records each process of a family as that says of itself: what it has freed of its maker's
/// blocks as inherited, and not as a loss.
void expect_followed(const std::string& how, const std::string& count, std::size_t processes) {
  const ScratchDirectory directory;
  std::map<std::string, std::string> environment = with_own_libc(directory);
  environment["FAMILY_WAITS"] = "1";
  DaemonProcess daemon(target_of("web", ledger_path("family"), "follow-children = true"));
  ChildProcess family(
      {.argv = {ledger_path("family"), how, directory.path("ledger"), count}, .environment = environment});
  EXPECT_EQ(family.read_line(), "ready");
  daemon.wait_for_processes(1, 1);
  family.send_byte();
  EXPECT_EQ(family.wait(), 0);
  daemon.wait_for_processes(0, 0);
  daemon.finish();
  const auto report = nlohmann::json::parse(report_of(daemon.recording("web"), {"--format", "json"}));
  EXPECT_TRUE(report.at("exact").get<bool>());
  expect_same(read_family(directory.path("ledger")), family_in(report), processes);
}

TEST(daemon, follows_workers_that_free_what_they_have_inherited) { expect_followed("prefork", "8", 9); }
TEST(daemon, follows_children_that_run_another_program) { expect_followed("vfork", "6", 7); }
TEST(daemon, follows_children_of_children) { expect_followed("chain", "5", 5); }

}  // namespace
}  // namespace hawk
