#include "userspace/report/target_lines.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "userspace/tables/merged_snapshot.h"

namespace hawk {
namespace {

/// A process for each number of live bytes.
Snapshot sum_of(const std::vector<std::uint64_t>& live_bytes) {
  std::vector<Snapshot> processes;
  for (const std::uint64_t live : live_bytes) {
    Snapshot& process = processes.emplace_back();
    process.target().pid = 100 + static_cast<int>(processes.size());
    process.target().comm = "cc1";
    process.target().exe = "/usr/bin/cc1";
    process.target().cgroup = "/";
    process.totals = {live, 2, 0, 0};
    process.stacks = {{.id = StackId{1}, .counters = process.totals, .frames = {}}};
  }
  processes[1].losses[HAWK_LOSS_LIVE_TABLE_FULL] = 1;
  processes[1].losses[HAWK_LOSS_LOST_CALL] = 7;
  processes[1].losses[HAWK_LOSS_TRUNCATED_STACK] = 7;
  processes[1].trace.target_exited = true;
  std::vector<const Snapshot*> parts;
  parts.reserve(processes.size());
  for (const Snapshot& process : processes) parts.push_back(&process);
  return *SnapshotMerger().merge(parts, 0);
}

std::string lines_of(const Snapshot& snapshot, const TextOptions& options = {}) {
  std::string text;
  const TextSink sink = [&](std::string_view piece) {
    text += piece;
    return true;
  };
  TextPage page(options, sink);
  put_target_lines(page, snapshot);
  page.finish();
  return text;
}

TEST(TargetLines, ALineEachWithItsVerdictTheLargestFirst) {
  EXPECT_EQ(lines_of(sum_of({100, 3000})),
            "all run /usr/bin/cc1\n"
            "      LIVE  BLOCKS  PROCESS\n"
            "  2.93 KiB       2  cc1 (pid 102): NOT exact: 1 allocation not kept: the live table is full, and 1 more "
            "cause; ended\n"
            "     100 B       2  cc1 (pid 101): exact\n"
            "1 of 2 processes ended during the trace: live includes what they held when they ended\n");
}

TEST(TargetLines, WhatTellsThemApartIsSaid) {
  Snapshot snapshot = sum_of({100, 50});
  snapshot.parts[1] = snapshot.parts[0];
  snapshot.targets[1].exe = "/usr/bin/as";
  snapshot.targets[1].cgroup = "/system.slice/ci.service";
  EXPECT_EQ(lines_of(snapshot),
            "      LIVE  BLOCKS  PROCESS\n"
            "     100 B       2  cc1 (pid 101): exact  /usr/bin/cc1\n"
            "     100 B       2  cc1 (pid 102): exact  /usr/bin/as  in /system.slice/ci.service\n");
  snapshot.targets[0] = snapshot.targets[1];
  EXPECT_TRUE(lines_of(snapshot).starts_with("all run /usr/bin/as, in /system.slice/ci.service\n"));
}

TEST(TargetLines, ManyAreSummedUp) {
  const Snapshot snapshot = sum_of({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const std::string text = lines_of(snapshot);
  EXPECT_EQ(text.find("cc1 (pid 112)"), text.find("cc1 (pid 1")) << "the largest first" << text;
  EXPECT_EQ(text.find("cc1 (pid 101): "), std::string::npos) << text;
  EXPECT_NE(
      text.find("… 2 more processes, live 3 B in 4 blocks; 1 NOT exact: cc1 (pid 102); --by process --top 0 shows "
                "all\n"),
      std::string::npos)
      << text;
  TextOptions by_blocks;
  by_blocks.selection.sort = SortKey::kAllocatedCount;
  EXPECT_NE(lines_of(snapshot, by_blocks)
                .find("… 2 more processes, allocated 23 B in 4 blocks; the numbers of all are exact"),
            std::string::npos)
      << lines_of(snapshot, by_blocks);
}

}  // namespace
}  // namespace hawk
