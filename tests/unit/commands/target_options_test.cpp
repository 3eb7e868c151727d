// What is to be traced, as the command line says it.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/unit/commands/parsed_options.h"

namespace hawk {
namespace {

TEST(Options, ProcessesAsPidofAndPgrepPrintThem) {
  const std::vector<int> three{812, 811, 810};
  for (const Words& words : {Words{"-p", "812 811 810"},
                             {"-p", "812\n811\n810\n"},
                             {"-p", "812,811,810"},
                             {"-p", "812", "-p", "811", "--pid=810"},
                             {"-p", "812", "811", "810"},
                             {"-p", "812 811 811", "-p", "810,812"}}) {
    EXPECT_EQ(options_of(words).processes.pids, three) << words[1];
  }
  EXPECT_EQ(options_of({"-p", "812", "811", "--top", "5"}).report.top, std::size_t{5});
}

TEST(Options, WhatProcessesAre) {
  const Options options = options_of({"--name", "nginx", "--name=redis", "--comm", "a b", "--exe", "/opt/*", "--cgroup",
                                      "/system.slice", "--unit", "cron", "--container", "3f"});
  EXPECT_EQ(options.processes, (ProcessQuery{.names = {"nginx", "redis"},
                                             .comms = {"a b"},
                                             .executables = {"/opt/*"},
                                             .cgroups = {"/system.slice"},
                                             .units = {"cron"},
                                             .containers = {"3f"}}));
}

TEST(OptionErrors, ProcessesByNumberAndByMore) {
  EXPECT_TRUE(refusal_with_pid({"--unit", "cron"}).starts_with("use either -p or options that select"));
  EXPECT_TRUE(refusal_of({"--unit", "cron", "--", "ls"}).starts_with("use either --unit or -- COMMAND, not both"));
  EXPECT_TRUE(refusal_of({"--unit", "cron", "812"}).starts_with("'812': unexpected argument"));
  EXPECT_TRUE(refusal_of({"--name", ""}).starts_with("--name: the value is empty"));
}

TEST(Options, WhomTheCommandRunsAs) {
  EXPECT_EQ(options_of({"--user", "0", "--", "ls"}).user.value().name, "root");
  EXPECT_TRUE(refusal_of({"--user", "no-such-user", "--", "ls"}).starts_with("--user: there is no user no-such-user"));
  EXPECT_EQ(refusal_with_pid({"--user", "root"}),
            "--user: no command to run as another user / hawktrace --user root -- COMMAND");
}

/// Whether children are followed, and whether threads are held.
std::pair<bool, bool> following(const Words& words) {
  const Options options = options_of(words);
  return {options.trace.follows_children, options.trace.holds};
}

TEST(Options, WhatIsFollowedAndHeldUnlessItIsSaid) {
  using Both = std::pair<bool, bool>;
  EXPECT_EQ(following({"--", "make"}), Both(true, true));
  EXPECT_EQ(following({"--unit", "cron"}), Both(true, false));
  EXPECT_EQ(following({"--cgroup", "/system.slice"}), Both(true, false));
  EXPECT_EQ(following({"--container", "3f"}), Both(true, false));
  for (const char* option : {"--name", "--comm", "--exe"}) EXPECT_EQ(following({option, "a"}), Both(false, false));
  EXPECT_EQ(following({"-p", "812"}), Both(false, false));
  EXPECT_EQ(following({"-p", "812", "--follow"}), Both(true, false));
  EXPECT_EQ(following({"-p", "812", "--follow", "--hold"}), Both(true, true));
  EXPECT_EQ(following({"--no-follow", "--", "make"}), Both(false, false));
  EXPECT_EQ(following({"--no-hold", "--", "make"}), Both(true, false));
  EXPECT_EQ(following({"--follow", "--no-follow", "--", "make"}), Both(false, false)) << "the last one counts";
}

TEST(Options, ProbesThatDoNotPassOnAreNotFollowed) {
  using Both = std::pair<bool, bool>;
  for (const char* way : {"session", "multi"}) {
    EXPECT_EQ(following({"--attach-via", way, "--", "make"}), Both(false, false)) << way;
    EXPECT_TRUE(refusal_of({"--attach-via", way, "--follow", "--", "make"}).starts_with("--follow: probes attached"));
  }
  EXPECT_EQ(following({"--attach-via", "session", "--links", "file", "--", "make"}), Both(true, true));
  EXPECT_EQ(following({"--attach-via", "points", "--", "make"}), Both(true, true));
  EXPECT_TRUE(refusal_of({"--no-follow", "--hold", "--", "make"}).starts_with("--hold: threads are held only"));
}

}  // namespace
}  // namespace hawk
