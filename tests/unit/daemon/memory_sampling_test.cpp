#include "userspace/daemon/memory_sampling.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "tests/support/scratch_directory.h"

namespace hawk {
namespace {

ProcessFacts process_in(std::vector<CgroupMembership> cgroups) {
  ProcessFacts process;
  process.cgroups = std::move(cgroups);
  return process;
}

TEST(MemorySampling, FindsTheHierarchyThatAccountsMemory) {
  const std::vector<CgroupMount> mounts = {{"", "/", "/sys/fs/cgroup"}, {"memory", "/", "/sys/fs/cgroup/memory"}};
  EXPECT_EQ(memory_cgroup_of(process_in({{"", "/system.slice/a.service"}}), mounts),
            (MemoryCgroupPath{"/sys/fs/cgroup/system.slice/a.service", "/sys/fs/cgroup", false}));
  EXPECT_EQ(memory_cgroup_of(process_in({{"memory", "/a"}, {"", "/b"}}), mounts),
            (MemoryCgroupPath{"/sys/fs/cgroup/memory/a", "/sys/fs/cgroup/memory", true}));
  EXPECT_EQ(memory_cgroup_of(process_in({{"", "/"}}), mounts), std::nullopt);
  EXPECT_EQ(memory_cgroup_of(process_in({{"cpu", "/a"}}), mounts), std::nullopt);
}

TEST(MemorySampling, ReadsACgroupAndTheLimitsAboveIt) {
  const ScratchDirectory root;
  const auto write = [&](const std::string& name, const std::string& text) { std::ofstream(root.path(name)) << text; };
  ASSERT_EQ(::mkdir(root.path("a").c_str(), 0700), 0);
  ASSERT_EQ(::mkdir(root.path("a/b").c_str(), 0700), 0);
  write("a/memory.max", "1000\n");
  write("a/memory.stat", "anon 400\nfile 500\nshmem 100\n");
  write("a/b/memory.current", "700\n");
  write("a/b/memory.max", "max\n");
  write("a/b/memory.events", "low 0\noom 3\noom_kill 2\noom_group_kill 1\n");
  write("a/b/memory.pressure", "some avg10=12.50 avg60=1.00 avg300=0.10 total=7\nfull avg10=1.00\n");
  const auto reading = read_cgroup_memory({root.path("a/b"), root.path(), false});
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->memory.current_bytes, 700U);
  EXPECT_EQ(reading->memory.max_bytes, std::nullopt);
  EXPECT_EQ(reading->memory.oom_kills, 2U);
  EXPECT_EQ(reading->left_bytes, 500U);
  EXPECT_EQ(reading->pressure_percent, 12.5);
  EXPECT_EQ(read_cgroup_memory({root.path("a/c"), root.path(), false}), std::nullopt);
}

TEST(MemorySampling, ReadsACgroupOfVersion1) {
  const ScratchDirectory root;
  const auto write = [&](const std::string& name, const std::string& text) { std::ofstream(root.path(name)) << text; };
  ASSERT_EQ(::mkdir(root.path("a").c_str(), 0700), 0);
  write("a/memory.usage_in_bytes", "700\n");
  write("a/memory.limit_in_bytes", "1000\n");
  write("a/memory.stat", "rss 1\ntotal_rss 300\n");
  write("a/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 4\n");
  const auto reading = read_cgroup_memory({root.path("a"), root.path(), true});
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->memory.max_bytes, 1000U);
  EXPECT_EQ(reading->memory.oom_kills, 4U);
  EXPECT_EQ(reading->left_bytes, 700U);
  write("a/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(read_cgroup_memory({root.path("a"), root.path(), true})->memory.max_bytes, std::nullopt);
}

TEST(MemorySampling, ReadsProcesses) {
  const auto memory = read_process_memory(::getpid());
  ASSERT_TRUE(memory);
  EXPECT_GT(memory->anonymous_bytes, 0U);
  EXPECT_FALSE(read_process_memory(-1));
  EXPECT_GT(read_machine_memory_left().value_or(0), 0U);
}

}  // namespace
}  // namespace hawk
