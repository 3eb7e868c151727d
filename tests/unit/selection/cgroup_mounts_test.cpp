#include "userspace/selection/cgroup_mounts.h"

#include <gtest/gtest.h>

namespace hawk {
namespace {

constexpr const char* kHybrid =
    "22 1 0:20 / /proc rw,relatime - proc proc rw\n"
    "30 25 0:26 / /sys/fs/cgroup ro,nosuid shared:4 - tmpfs tmpfs ro,mode=755\n"
    "31 30 0:27 / /sys/fs/cgroup/unified rw,relatime shared:5 - cgroup2 cgroup2 rw\n"
    "32 30 0:28 / /sys/fs/cgroup/systemd rw shared:6 master:2 - cgroup cgroup rw,xattr,name=systemd\n"
    "33 30 0:29 /docker/x /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
    "cut off - cgroup2\n";

TEST(ParseCgroupMounts, FindsEveryHierarchy) {
  EXPECT_EQ(parse_cgroup_mounts(kHybrid),
            (std::vector<CgroupMount>{{"", "/", "/sys/fs/cgroup/unified"},
                                      {"name=systemd", "/", "/sys/fs/cgroup/systemd"},
                                      {"cpu,cpuacct", "/docker/x", "/sys/fs/cgroup/cpu,cpuacct"}}));
  EXPECT_TRUE(parse_cgroup_mounts("").empty());
}

TEST(NameCgroup, BelowAMountPointItIsOfThatHierarchy) {
  const std::vector<CgroupMount> mounts = parse_cgroup_mounts(kHybrid);
  EXPECT_EQ(name_cgroup("/sys/fs/cgroup/unified/a//b/", mounts).value(),
            (NamedCgroup{"", "/a/b", "/sys/fs/cgroup/unified/a/b"}));
  EXPECT_EQ(name_cgroup("/sys/fs/cgroup/unified", mounts).value(), (NamedCgroup{"", "/", "/sys/fs/cgroup/unified"}));
  EXPECT_EQ(name_cgroup("/sys/fs/cgroup/cpu,cpuacct/c", mounts).value(),
            (NamedCgroup{"cpu,cpuacct", "/docker/x/c", "/sys/fs/cgroup/cpu,cpuacct/c"}));
}

TEST(NameCgroup, AsInProcItIsOfAny) {
  const std::vector<CgroupMount> mounts = parse_cgroup_mounts(kHybrid);
  const NamedCgroup expected{std::nullopt, "/system.slice/x", "/sys/fs/cgroup/unified/system.slice/x"};
  EXPECT_EQ(name_cgroup("/system.slice/x", mounts).value(), expected);
  EXPECT_EQ(name_cgroup("system.slice/x/", mounts).value(), expected);
  EXPECT_EQ(name_cgroup("/system.slice/x", {}).value(), (NamedCgroup{std::nullopt, "/system.slice/x", ""}));
}

TEST(NameCgroup, Refuses) {
  const std::vector<CgroupMount> mounts = parse_cgroup_mounts(kHybrid);
  for (const char* const text : {"", "..", "/a/../b", "../a", "/a/.."}) {
    EXPECT_EQ(name_cgroup(text, mounts).error().exit_code, ExitCode::kUsage) << text;
  }
  const Error beside = name_cgroup("/sys/fs/cgroup/system.slice", mounts).error();
  EXPECT_EQ(beside.exit_code, ExitCode::kNoTarget);
  EXPECT_EQ(beside.hint, "there is one at /sys/fs/cgroup/cpu,cpuacct");
  EXPECT_NE(name_cgroup("/sys/fs/cgroup/system.slice", {}).error().hint.find("mount -t cgroup2"), std::string::npos);
}

}  // namespace
}  // namespace hawk
