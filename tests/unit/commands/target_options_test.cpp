// What is to be traced, as the command line says it.
#include <gtest/gtest.h>

#include <string>
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

}  // namespace
}  // namespace hawk
