#include "userspace/selection/process_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "tests/unit/selection/fake_proc.h"

namespace hawk {
namespace {

constexpr int kOwn = 900;
const std::string kId = "3f2a91c0d4e5f60718293a4b5c6d7e8f3f2a91c0d4e5f60718293a4b5c6d7e8f";
const std::string kOtherId = "3f2b" + std::string(60, '0');

/// A machine with two services, a container with a systemd of its own, and two users.
class Machine : public testing::Test {
 protected:
  void SetUp() override {
    proc_.set_mountinfo("31 30 0:27 / " + proc_.path("cgroup") + " rw - cgroup2 cgroup2 rw\n");
    std::filesystem::create_directories(proc_.path("cgroup/system.slice/idle.service"));
    proc_.add({.pid = 1, .comm = "systemd", .executable = "/usr/lib/systemd/systemd", .cgroups = "0::/init.scope\n"});
    proc_.add({.pid = 2, .comm = "kthreadd", .flags = 0x208040});
    proc_.add({.pid = 810, .comm = "nginx", .executable = "/usr/sbin/nginx", .cgroups = kNginx});
    proc_.add({.pid = 811, .comm = "nginx", .executable = "/usr/sbin/nginx", .cgroups = kNginx, .parent = 810});
    proc_.add({.pid = 812, .comm = "nginx", .executable = "/usr/sbin/nginx", .cgroups = kNginx, .state = 'Z'});
    proc_.add({.pid = 820,
               .comm = "gunicorn: maste",
               .executable = "/usr/bin/python3.11",
               .cgroups = "0::/system.slice/shop@eu\\x2d1.service\n"});
    proc_.add({.pid = 830,
               .comm = "nginx",
               .executable = "/usr/sbin/nginx",
               .cgroups = "0::/system.slice/docker-" + kId + ".scope/system.slice/nginx.service\n"});
    proc_.add({.pid = 831,
               .comm = "redis-server",
               .executable = "/usr/bin/redis-check-rdb",
               .cgroups = "0::/system.slice/docker-" + kOtherId + ".scope\n"});
    proc_.add({.pid = 840,
               .comm = "web",
               .executable = "/srv/web",
               .cgroups = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/web.service\n"});
    proc_.add({.pid = 841,
               .comm = "web",
               .executable = "/srv/web",
               .cgroups = "0::/user.slice/user-1001.slice/user@1001.service/app.slice/web.service\n"});
    proc_.add({.pid = 842,
               .comm = "notes",
               .executable = "/srv/notes",
               .cgroups = "0::/user.slice/user-1001.slice/user@1001.service/app.slice/notes.service\n"});
    proc_.add({.pid = kOwn, .comm = "nginx", .executable = "/usr/sbin/nginx", .cgroups = kNginx});
    proc_.add({.pid = 901, .comm = "nginx", .executable = "/usr/sbin/nginx", .cgroups = kNginx, .parent = kOwn});
  }

  Result<FoundProcesses> find(const ProcessQuery& query) const { return find_processes(query, proc_.root(), kOwn); }
  std::vector<int> pids_of(const ProcessQuery& query) const {
    const Result<FoundProcesses> found = find(query);
    if (!found) {
      ADD_FAILURE() << found.error().what;
      return {};
    }
    std::vector<int> pids;
    std::transform(found->processes.begin(), found->processes.end(), std::back_inserter(pids),
                   [](const ProcessFacts& process) { return process.pid; });
    return pids;
  }
  Error error_of(const ProcessQuery& query, ExitCode code) const {
    const Result<FoundProcesses> found = find(query);
    if (found) {
      ADD_FAILURE() << "found " << found->processes.front().pid;
      return {};
    }
    EXPECT_EQ(found.error().exit_code, code) << found.error().what;
    EXPECT_FALSE(found.error().hint.empty());
    return found.error();
  }

  static constexpr const char* kNginx = "0::/system.slice/nginx.service\n";
  FakeProc proc_;
};

using Pids = std::vector<int>;

TEST_F(Machine, ByNameOfTheKernelOrOfTheFile) {
  EXPECT_EQ(pids_of({.names = {"nginx"}}), (Pids{810, 811, 830})) << "neither the zombie nor ourselves";
  EXPECT_EQ(pids_of({.names = {"redis-server"}}), Pids{831});
  EXPECT_EQ(pids_of({.names = {"redis-check-rdb"}}), Pids{831});
  EXPECT_EQ(pids_of({.comms = {"redis-server", "notes"}}), (Pids{831, 842}));
  EXPECT_EQ(error_of({.comms = {"redis-check-rdb"}}, ExitCode::kNoTarget).what,
            "--comm redis-check-rdb: no process matches");
  EXPECT_EQ(error_of({.comms = {"gunicorn: master [shop]"}}, ExitCode::kNoTarget).hint,
            "the kernel keeps 15 bytes of a name: --comm 'gunicorn: maste'");
  error_of({.names = {"kthreadd"}}, ExitCode::kNoTarget);
}

TEST_F(Machine, ByExecutable) {
  EXPECT_EQ(pids_of({.executables = {"/srv/*"}}), (Pids{840, 841, 842}));
  EXPECT_EQ(pids_of({.executables = {"python3*"}}), Pids{820});
  EXPECT_EQ(pids_of({.executables = {"/usr/*/nginx"}}), (Pids{810, 811, 830}));
  EXPECT_EQ(pids_of({.executables = {"/usr/lib/*", "notes"}}), (Pids{1, 842}));
  error_of({.executables = {"ngin"}}, ExitCode::kNoTarget);
}

TEST_F(Machine, ByCgroup) {
  EXPECT_EQ(pids_of({.cgroups = {"/system.slice/nginx.service"}}), (Pids{810, 811}));
  EXPECT_EQ(pids_of({.cgroups = {"user.slice"}}), (Pids{840, 841, 842}));
  EXPECT_EQ(pids_of({.cgroups = {proc_.path("cgroup") + "/user.slice/user-1001.slice"}}), (Pids{841, 842}));
  EXPECT_EQ(error_of({.cgroups = {"/nowhere"}}, ExitCode::kNoTarget).what, "--cgroup: no process is in /nowhere");
  EXPECT_EQ(error_of({.cgroups = {"/system.slice/idle.service"}}, ExitCode::kNoTarget).what,
            "--cgroup: /system.slice/idle.service has no process");
}

TEST_F(Machine, ByUnit) {
  EXPECT_EQ(pids_of({.units = {"nginx"}}), (Pids{810, 811})) << "not that of a container's systemd";
  EXPECT_EQ(pids_of({.units = {"nginx.service"}}), (Pids{810, 811}));
  EXPECT_EQ(pids_of({.units = {"shop@eu\\x2d1"}}), Pids{820});
  EXPECT_EQ(pids_of({.units = {"notes"}}), Pids{842}) << "of the only user who has one";
  EXPECT_EQ(pids_of({.units = {"user-1001.slice"}}), (Pids{841, 842}));
  EXPECT_EQ(find({.units = {"nginx"}})->notes,
            std::vector<std::string>{"--unit nginx is the cgroup /system.slice/nginx.service"});
  EXPECT_EQ(error_of({.units = {"postgres"}}, ExitCode::kNoTarget).hint,
            "is it running? systemctl status postgres.service");
}

TEST_F(Machine, ByPatternOfUnits) {
  EXPECT_EQ(pids_of({.units = {"shop@*"}}), Pids{820});
  EXPECT_EQ(pids_of({.units = {"shop@eu\\x2d?.service"}}), Pids{820});
  EXPECT_EQ(pids_of({.units = {"ngin[wx]"}}), (Pids{810, 811})) << "not that of a container's systemd";
  EXPECT_EQ(pids_of({.units = {"n*", "web*"}}), (Pids{810, 811, 840, 841, 842})) << "of users as well";
  EXPECT_EQ(pids_of({.units = {"nginx", "shop@*"}}), (Pids{810, 811, 820}));
  EXPECT_EQ(pids_of({.comms = {"notes"}, .units = {"n*"}}), Pids{842});
  error_of({.units = {"postgres*"}}, ExitCode::kNoTarget);
}

/// For who watches on: what is not there yet does not keep the rest from being found.
TEST_F(Machine, WhatIsAbsentCanBeLeftOut) {
  const std::vector<ProcessFacts> processes = all_processes(proc_.root(), kOwn);
  const auto rules = [&](const ProcessQuery& query) { return find_rules(query, processes, {}, Absent::kLeftOut); };
  const auto some = rules({.units = {"postgres", "nginx"}});
  ASSERT_TRUE(some);
  EXPECT_FALSE(some->is_complete);
  EXPECT_EQ(std::count_if(processes.begin(), processes.end(), [&](const auto& p) { return some->matcher.matches(p); }),
            2);
  EXPECT_TRUE(rules({.units = {"nginx"}, .containers = {"3f2a"}})->is_complete);
  EXPECT_EQ(rules({.units = {"postgres"}}).error().exit_code, ExitCode::kNoTarget);
  EXPECT_EQ(rules({.comms = {"nginx"}, .cgroups = {"/nobody"}}).error().exit_code, ExitCode::kNoTarget);
  EXPECT_EQ(rules({.units = {"postgres", "web"}}).error().exit_code, ExitCode::kUsage) << "two users have it";
}

TEST_F(Machine, UnitThatIsSeveral) {
  const Error template_ = error_of({.units = {"shop@"}}, ExitCode::kUsage);
  EXPECT_EQ(template_.what, "--unit: shop@.service is a template");
  EXPECT_EQ(template_.details, std::vector<std::string>{"shop@eu\\x2d1.service"});
  const Error users = error_of({.units = {"web"}}, ExitCode::kUsage);
  EXPECT_EQ(users.what, "--unit: 2 users have a unit web.service");
  EXPECT_EQ(users.details.size(), 2u);
}

TEST_F(Machine, ByContainer) {
  EXPECT_EQ(pids_of({.containers = {kId}}), Pids{830});
  EXPECT_EQ(pids_of({.containers = {"3f2a"}}), Pids{830});
  EXPECT_EQ(find({.containers = {"3f2a"}})->notes, std::vector<std::string>{"--container 3f2a is docker " + kId});
  const Error several = error_of({.containers = {"3f2"}}, ExitCode::kUsage);
  EXPECT_EQ(several.what, "--container: the ids of 2 containers begin with 3f2");
  EXPECT_EQ(several.details, (std::vector<std::string>{kId + " (docker)", kOtherId + " (docker)"}));
  error_of({.containers = {"beef"}}, ExitCode::kNoTarget);
}

TEST_F(Machine, ListsNarrowEachOtherDown) {
  EXPECT_EQ(pids_of({.names = {"nginx", "notes"}, .units = {"nginx"}}), (Pids{810, 811}));
  EXPECT_EQ(error_of({.names = {"notes"}, .units = {"nginx"}}, ExitCode::kNoTarget).what,
            "--name notes --unit nginx: no process matches");
}

/// What begins later, under the same rules: a unit is its cgroup from then on, a container its whole id.
TEST_F(Machine, TellsOfLaterProcesses) {
  const ProcessMatcher unit = find({.units = {"nginx"}})->matcher;
  const ProcessMatcher container = find({.containers = {"3f2a"}})->matcher;
  proc_.add({.pid = 860, .comm = "nginx", .cgroups = kNginx});
  proc_.add({.pid = 861, .comm = "sh", .cgroups = "0::/docker/3f2a" + std::string(60, 'f') + "\n"});
  proc_.add({.pid = 862, .comm = "sh", .cgroups = "0::/system.slice/docker-" + kId + ".scope\n"});
  const auto matches = [this](const ProcessMatcher& matcher, int pid) {
    return matcher.matches(read_facts(proc_.root(), pid).value());
  };
  EXPECT_TRUE(matches(unit, 860));
  EXPECT_FALSE(matches(unit, 862));
  EXPECT_FALSE(matches(container, 861));
  EXPECT_TRUE(matches(container, 862));
}

TEST(FindProcesses, WhereVersionOneIsSystemds) {
  const FakeProc proc;
  proc.add({.pid = 10, .comm = "x", .cgroups = "4:memory:/system.slice\n1:name=systemd:/system.slice/x.service\n"});
  proc.add({.pid = 11, .comm = "y", .cgroups = "4:memory:/limited\n1:name=systemd:/system.slice/y.service\n0::/\n"});
  const auto first = [&proc](const ProcessQuery& query) {
    const Result<FoundProcesses> found = find_processes(query, proc.root(), kOwn);
    return found ? found->processes.front().pid : -1;
  };
  EXPECT_EQ(first({.units = {"y"}}), 11);
  EXPECT_EQ(first({.cgroups = {"/limited"}}), 11);
  EXPECT_EQ(first({.cgroups = {"/system.slice/x.service"}}), 10);
}

TEST(FindProcesses, WithoutSystemdOrMounts) {
  const FakeProc proc;
  proc.add({.pid = 10, .comm = "x"});
  const Result<FoundProcesses> unit = find_processes({.units = {"x"}}, proc.root(), kOwn);
  ASSERT_FALSE(unit);
  EXPECT_NE(unit.error().hint.find("not managed by systemd"), std::string::npos);
  const Result<FoundProcesses> cgroup = find_processes({.cgroups = {"/sys/fs/cgroup/x"}}, proc.root(), kOwn);
  ASSERT_FALSE(cgroup);
  EXPECT_NE(cgroup.error().hint.find("mount -t cgroup2"), std::string::npos);
}

/// Between the list and the look.
TEST(FindProcesses, OneThatEndsMeanwhileIsLeftOut) {
  const FakeProc proc;
  proc.add({.pid = 10, .comm = "x"});
  proc.add({.pid = 11, .comm = "x"});
  std::filesystem::remove(proc.path("10/stat"));
  EXPECT_EQ(all_processes(proc.root(), kOwn).size(), 1u);
}

}  // namespace
}  // namespace hawk
