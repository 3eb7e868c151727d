#include "userspace/selection/process_facts.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/selection/fake_proc.h"

namespace hawk {
namespace {

TEST(ReadFacts, OfAProcess) {
  const FakeProc proc;
  proc.add({.pid = 42,
            .comm = "a) S 1 (b",
            .executable = "/opt/shop/server (deleted)",
            .cgroups = "0::/system.slice/shop.service\n",
            .parent = 7,
            .start_ticks = 12345});
  EXPECT_EQ(read_facts(proc.root(), 42), (ProcessFacts{.pid = 42,
                                                       .parent = 7,
                                                       .start_ticks = 12345,
                                                       .comm = "a) S 1 (b",
                                                       .executable = "/opt/shop/server",
                                                       .cgroups = {{"", "/system.slice/shop.service"}}}));
}

TEST(ReadFacts, OfOurselves) {
  const std::optional<ProcessFacts> facts = read_facts(ProcRoot::open().value(), ::getpid());
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->comm, "unit_selection");
  EXPECT_EQ(facts->parent, ::getppid());
  EXPECT_EQ(facts->executable, std::filesystem::read_symlink("/proc/self/exe").string());
  EXPECT_FALSE(facts->cgroups.empty());
  EXPECT_GT(facts->start_ticks, 0u);
}

TEST(ReadFacts, NotOfWhatCannotBeTraced) {
  const FakeProc proc;
  proc.add({.pid = 2, .comm = "kthreadd", .flags = 0x208040});
  proc.add({.pid = 3, .comm = "gone", .state = 'Z'});
  proc.add({.pid = 4, .comm = "gone", .state = 'X'});
  proc.add({.pid = 5, .comm = "cut"});
  FakeProc::write(proc.path("5/stat"), "5 (cut) S 1 1");
  proc.add({.pid = 6, .comm = "empty"});
  FakeProc::write(proc.path("6/stat"), "");
  proc.add({.pid = 7, .comm = "going"});
  std::filesystem::remove(proc.path("7/cgroup"));
  for (const int pid : {2, 3, 4, 5, 6, 7, 8}) EXPECT_EQ(read_facts(proc.root(), pid), std::nullopt) << pid;
}

/// Its own links are gone, those of its threads are not.
TEST(ReadFacts, AnExitedMainThreadIsNoObstacle) {
  const FakeProc proc;
  proc.add({.pid = 50, .comm = "server", .state = 'Z', .threads = 2});
  std::filesystem::create_directories(proc.path("50/task/50"));
  std::filesystem::create_directories(proc.path("50/task/51"));
  std::filesystem::create_symlink("/usr/bin/server", proc.path("50/task/51/exe"));
  const std::optional<ProcessFacts> facts = read_facts(proc.root(), 50);
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->executable, "/usr/bin/server");
}

/// Another process that has the number of one that was looked at is not taken for it.
TEST(ProcDirectory, IsOfOneProcess) {
  const ProcRoot proc = ProcRoot::open().value();
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::pause();
    ::_exit(0);
  }
  const std::optional<ProcDirectory> process = proc.process(pid);
  ASSERT_TRUE(process);
  EXPECT_TRUE(process->read("stat"));
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  EXPECT_FALSE(process->read("stat"));
  EXPECT_FALSE(process->link("exe"));
  EXPECT_TRUE(process->threads().empty());
}

TEST(ProcRoot, ListsProcessesOnly) {
  const FakeProc proc;
  proc.set_mountinfo("");
  proc.add({.pid = 30, .comm = "b"});
  proc.add({.pid = 4, .comm = "a"});
  std::filesystem::create_directories(proc.path("12x"));
  std::filesystem::create_directories(proc.path("0"));
  EXPECT_EQ(proc.root().pids(), (std::vector<int>{4, 30}));
}

TEST(ProcRoot, MayBeMissing) {
  const Result<ProcRoot> none = ProcRoot::open("/nowhere/proc");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().exit_code, ExitCode::kPrivilege);
}

}  // namespace
}  // namespace hawk
