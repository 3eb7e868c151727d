#include "tests/kernel/harness/tracefs.h"

#include <gtest/gtest.h>

#include "tests/kernel/harness/child_process.h"

namespace hawk {

std::string in_tracefs(const std::string& commands) {
  ChildProcess shell({.argv = {"unshare", "--mount", "sh", "-c", "mount -t tracefs none /mnt; " + commands}});
  std::string printed = shell.read_to_end();
  EXPECT_EQ(shell.wait(), 0) << shell.errors();
  return printed;
}

std::string named_events() { return in_tracefs("cat /mnt/uprobe_events"); }

void expect_no_named_events(pid_t hawktrace) {
  // See group_name() in userspace/tracer/event_groups.h.
  EXPECT_EQ(named_events().find("_" + std::to_string(hawktrace) + "_"), std::string::npos) << named_events();
}

}  // namespace hawk
