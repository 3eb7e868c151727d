// hawktrace --user USER -- CMD: the command is that user, for good.
#include "userspace/launch/command_user.h"

#include <fmt/core.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "tests/kernel/harness/compare.h"
#include "tests/kernel/harness/kernel_test.h"
#include "tests/kernel/harness/ledger.h"

namespace hawk {
namespace {

using namespace std::string_literals;
using Words = std::vector<std::string>;

/// What a shell prints that is started as `user`.
std::string said_as(const std::string& user, const std::string& script, const Words& runner = {}) {
  ChildProcess::Setup setup{.argv = runner};
  for (const char* word : {HAWKTRACE_PATH, "-q", "-o", "/dev/null", "--user", user.c_str(), "--", "/bin/sh", "-c"}) {
    setup.argv.push_back(word);
  }
  setup.argv.push_back(script);
  ChildProcess hawktrace(setup);
  std::string said = hawktrace.read_to_end();
  EXPECT_EQ(hawktrace.wait(), 0) << hawktrace.errors();
  return said;
}

TEST(command_user, has_all_ids_and_no_capability) {
  for (const std::string& name : {"nobody"s, std::to_string(find_user("nobody")->uid)}) {
    const CommandUser user = find_user(name).value();
    const std::string status = said_as(name, "cat /proc/self/status");
    for (const auto& [line, id] : {std::pair{"Uid", user.uid}, {"Gid", user.gid}}) {
      const std::string expected = fmt::format("\n{0}:\t{1}\t{1}\t{1}\t{1}\n", line, id);
      EXPECT_NE(status.find(expected), std::string::npos) << status;
    }
    for (const char* const set : {"CapInh", "CapPrm", "CapEff", "CapAmb"}) {
      EXPECT_NE(status.find(std::string(set) + ":\t0000000000000000\n"), std::string::npos) << set << "\n" << status;
    }
  }
}

TEST(command_user, has_the_environment_of_the_user) {
  const CommandUser user = find_user("nobody").value();
  EXPECT_EQ(said_as("nobody", "echo $HOME $USER $LOGNAME $SHELL"), user.home + " nobody nobody " + user.shell + "\n");
}

/// What has been given up cannot be had again, by no id that was kept.
TEST(command_user, has_no_way_back) {
  EXPECT_EQ(said_as("nobody",
                    "for id in --reuid --regid; do setpriv $id 0 true 2>/dev/null && echo $id; done; "
                    "setpriv --clear-groups true 2>/dev/null && echo groups; echo done"),
            "done\n");
}

/// Of the system's databases, which are those of a mount namespace here; none of root's.
TEST(command_user, has_the_groups_of_the_user) {
  const ScratchDirectory directory;
  std::filesystem::copy_file("/etc/group", directory.path("group"));
  std::ofstream(directory.path("group"), std::ios::app) << "hawk-a:x:54321:nobody\nhawk-b:x:54322:root,nobody\n"
                                                        << "hawk-c:x:54323:root\n";
  const Words runner = {
      "unshare", "-m", "/bin/sh", "-c", "mount --bind " + directory.path("group") + " /etc/group && exec \"$@\"", "sh"};
  std::istringstream said(said_as("nobody", "id -G", runner));
  const std::set<std::string> groups{std::istream_iterator<std::string>(said), {}};
  EXPECT_EQ(groups, (std::set<std::string>{std::to_string(find_user("nobody")->gid), "54321", "54322"}));
}

TEST(command_user, root_stays_root) {
  EXPECT_EQ(said_as("root", "id -u; setpriv --reuid nobody --clear-groups true && echo may"), "0\nmay\n");
}

/// The command's own status, 126, and a hint at whom.
TEST(command_user, who_may_not_execute_it) {
  const ScratchDirectory directory(0700);
  std::filesystem::copy_file("/bin/true", directory.path("true"));
  ChildProcess hawktrace({.argv = {HAWKTRACE_PATH, "--user", "nobody", "--", directory.path("true")}});
  EXPECT_EQ(hawktrace.wait(), 126);
  EXPECT_NE(hawktrace.errors().find("Permission denied\nhint: the user nobody is not permitted to execute it"),
            std::string::npos)
      << hawktrace.errors();
}

TEST(command_user, who_may_not_be_become) {
  ChildProcess hawktrace({.argv = {"setpriv", "--bounding-set=-setuid,-setgid", "--inh-caps=-setuid,-setgid",
                                   HAWKTRACE_PATH, "--user", "nobody", "--", "/bin/true"}});
  EXPECT_EQ(hawktrace.wait(), 125);
  EXPECT_NE(hawktrace.errors().find("run /bin/true as nobody: setgroups: Operation not permitted\nhint: "),
            std::string::npos)
      << hawktrace.errors();
}

/// Traced from the first instruction on, as root's are.
KERNEL_TEST(command_user, is_traced) {
  const ScratchDirectory directory(0755);
  const std::string program = directory.path("program");
  std::filesystem::copy_file(ledger_path("every_function"), program);
  Trace trace = Trace::launch({program}, way, {"--user", "nobody"});
  EXPECT_EQ(trace.process().read_line(), "ready");
  trace.process().send_byte();
  const Ledger ledger = read_ledger(trace.process());
  trace.process().close_input();
  expect_equal(trace.wait_for_report(), ledger);
}

}  // namespace
}  // namespace hawk
