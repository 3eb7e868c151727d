#include "userspace/selection/cgroup_path.h"

#include <gtest/gtest.h>

namespace hawk {
namespace {

const std::string kId = "3f2a91c0d4e5f60718293a4b5c6d7e8f3f2a91c0d4e5f60718293a4b5c6d7e8f";

TEST(IsWithin, IsOfWholeComponents) {
  EXPECT_TRUE(is_within("/a/b", "/a"));
  EXPECT_TRUE(is_within("/a", "/a/"));
  EXPECT_TRUE(is_within("/a", "/"));
  EXPECT_TRUE(is_within("/", "/"));
  EXPECT_FALSE(is_within("/ab", "/a"));
  EXPECT_FALSE(is_within("/a", "/a/b"));
}

TEST(FindUnit, OfTheSystem) {
  EXPECT_EQ(find_unit("/system.slice/nginx.service", "nginx.service"),
            (UnitCgroup{"/system.slice/nginx.service", std::nullopt}));
  EXPECT_EQ(find_unit("/system.slice/system-getty.slice/getty@tty1.service/sub/group", "getty@tty1.service"),
            (UnitCgroup{"/system.slice/system-getty.slice/getty@tty1.service", std::nullopt}));
  EXPECT_EQ(find_unit("/init.scope", "init.scope"), (UnitCgroup{"/init.scope", std::nullopt}));
  EXPECT_EQ(find_unit("/system.slice/nginx.service", "system.slice"), (UnitCgroup{"/system.slice", std::nullopt}));
  EXPECT_EQ(find_unit("/system.slice/nginx.service", "nginx"), std::nullopt);
  EXPECT_EQ(find_unit("/", "nginx.service"), std::nullopt);
}

/// cg_escape: what would be taken for a file of the kernel's has an underscore before it, and so has what begins with
/// one. The unit's own escapes stay as systemctl shows them.
TEST(FindUnit, UndoesWhatCgroupfsCannotBear) {
  EXPECT_TRUE(find_unit("/system.slice/_cpu.service", "cpu.service"));
  EXPECT_TRUE(find_unit("/system.slice/__own.service", "_own.service"));
  EXPECT_TRUE(find_unit("/system.slice/dev-disk\\x2dby.swap", "dev-disk\\x2dby.swap"));
}

TEST(FindUnit, OfAUsersManager) {
  const std::string path = "/user.slice/user-1000.slice/user@1000.service/app.slice/web.service/inner.service";
  EXPECT_EQ(find_unit(path, "web.service"),
            (UnitCgroup{"/user.slice/user-1000.slice/user@1000.service/app.slice/web.service", "1000"}));
  EXPECT_EQ(find_unit(path, "user@1000.service"),
            (UnitCgroup{"/user.slice/user-1000.slice/user@1000.service", std::nullopt}));
  EXPECT_EQ(find_unit(path, "inner.service"), std::nullopt);
}

/// A systemd in a container has units of the same names.
TEST(FindUnit, NotOfAContainer) {
  EXPECT_EQ(find_unit("/docker/" + kId + "/system.slice/nginx.service", "nginx.service"), std::nullopt);
  EXPECT_EQ(find_unit("/machine.slice/machine-box.scope/payload/system.slice/nginx.service", "nginx.service"),
            std::nullopt);
  EXPECT_EQ(find_unit("/system.slice/docker-" + kId + ".scope/system.slice/nginx.service", "nginx.service"),
            std::nullopt);
}

/// Seen from within a cgroup namespace.
TEST(FindUnit, BesideOurNamespace) { EXPECT_TRUE(find_unit("/../system.slice/nginx.service", "nginx.service")); }

TEST(InstancesOf, ATemplate) {
  EXPECT_EQ(instances_of("/system.slice/system-getty.slice/getty@tty1.service", "getty@.service"),
            std::vector<std::string>{"getty@tty1.service"});
  EXPECT_TRUE(instances_of("/system.slice/system-getty.slice/getty@tty1.service", "getty@tty1.service").empty());
  EXPECT_TRUE(instances_of("/system.slice/other@tty1.service", "getty@.service").empty());
}

TEST(CompleteUnitName, ServiceIsImplied) {
  EXPECT_EQ(complete_unit_name("nginx"), "nginx.service");
  EXPECT_EQ(complete_unit_name("my.app"), "my.app.service");
  EXPECT_EQ(complete_unit_name("getty@tty1"), "getty@tty1.service");
  EXPECT_EQ(complete_unit_name("init.scope"), "init.scope");
  EXPECT_EQ(complete_unit_name("system.slice"), "system.slice");
}

std::vector<Container> only(std::string name, bool is_id, std::string manager) {
  return {{std::move(name), is_id, std::move(manager)}};
}

TEST(ContainersOf, ById) {
  const std::string pod = "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1f_2.slice/";
  EXPECT_EQ(containers_of("/system.slice/docker-" + kId + ".scope"), only(kId, true, "docker"));
  EXPECT_EQ(containers_of("/docker/" + kId), only(kId, true, "docker"));
  EXPECT_EQ(containers_of(pod + "cri-containerd-" + kId + ".scope"), only(kId, true, "cri-containerd"));
  EXPECT_EQ(containers_of(pod + "crio-" + kId + ".scope/container"), only(kId, true, "crio"));
  EXPECT_EQ(containers_of("/machine.slice/libpod-" + kId + ".scope/container"), only(kId, true, "libpod"));
  EXPECT_EQ(containers_of("/kubepods/burstable/pod1/" + kId), only(kId, true, ""));
  EXPECT_EQ(containers_of(pod + kId), only(kId, true, ""));
}

TEST(ContainersOf, ByName) {
  EXPECT_EQ(containers_of("/lxc/web"), only("web", false, "lxc"));
  EXPECT_EQ(containers_of("/lxc.payload/web/init.scope"), only("web", false, "lxc"));
  EXPECT_EQ(containers_of("/lxc.payload.web/system.slice/cron.service"), only("web", false, "lxc"));
  EXPECT_EQ(containers_of("/machine.slice/machine-web\\x2dbox.scope/payload"),
            only("web-box", false, "systemd-nspawn"));
  EXPECT_EQ(containers_of("/machine.slice/systemd-nspawn@web.service/payload"), only("web", false, "systemd-nspawn"));
}

/// Helper processes of managers are not in containers.
TEST(ContainersOf, NoContainer) {
  for (const std::string& path :
       {"/machine.slice/libpod-conmon-" + kId + ".scope", "/kubepods.slice/crio-conmon-" + kId + ".scope",
        std::string("/lxc.monitor.web"), std::string("/system.slice/docker.service"), std::string("/user.slice"),
        "/system.slice/x" + kId + ".scope", std::string("/deadbeef"), std::string("/"), std::string()}) {
    EXPECT_TRUE(containers_of(path).empty()) << path;
  }
}

TEST(ContainersOf, OneInAnother) {
  const std::string inner(64, 'a');
  const std::vector<Container> both = containers_of("/docker/" + kId + "/docker/" + inner);
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0].name, kId);
  EXPECT_EQ(both[1].name, inner);
}

}  // namespace
}  // namespace hawk
