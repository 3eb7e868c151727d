#include "userspace/base/cgroup_membership.h"

#include <gtest/gtest.h>

namespace hawk {
namespace {

TEST(ParseCgroups, ReadsBothVersions) {
  EXPECT_EQ(
      parse_cgroups("9:name=systemd:/init.scope\n4:cpu,cpuacct:/a:b\n0::/user.slice/x (deleted)\n"),
      (std::vector<CgroupMembership>{{"name=systemd", "/init.scope"}, {"cpu,cpuacct", "/a:b"}, {"", "/user.slice/x"}}));
  EXPECT_TRUE(parse_cgroups("").empty());
  EXPECT_TRUE(parse_cgroups("no line of it\n0:\n\n").empty());
}

TEST(TellingCgroup, IsThatOfVersionTwoUnlessItIsTheRoot) {
  EXPECT_EQ(telling_cgroup({{"cpu", "/a"}, {"", "/b"}}), "/b");
  EXPECT_EQ(telling_cgroup({{"cpu", "/"}, {"memory", "/a"}, {"pids", "/c"}, {"", "/"}}), "/a");
  EXPECT_EQ(telling_cgroup({{"cpu", "/"}, {"", "/"}}), "/");
  EXPECT_EQ(telling_cgroup({}), "");
}

}  // namespace
}  // namespace hawk
