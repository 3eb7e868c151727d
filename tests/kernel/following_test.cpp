// Children that targets make, as the programs and the tracer see them.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/kernel/harness/engine_world.h"
#include "tests/kernel/harness/kernel_test.h"
#include "tests/kernel/harness/ledger.h"
#include "tests/kernel/harness/told_worker.h"
#include "tests/kernel/harness/traced_family.h"
#include "tests/support/scratch_directory.h"
#include "userspace/tracer/engine.h"
#include "userspace/tracer/tracer.h"

namespace hawk {
namespace {

void allocate(std::size_t count, std::size_t bytes) {
  for (std::size_t i = 0; i < count; ++i) {
    void* volatile block = std::malloc(bytes);
    static_cast<void>(block);
  }
}

/// Forks `count` children one after the other, which free what they have inherited, allocate, and end.
void fork_children(std::size_t count) {
  constexpr std::size_t kInherited = 50;
  std::array<void*, kInherited> inherited{};
  for (void*& block : inherited) block = std::malloc(40);
  for (std::size_t i = 0; i < count; ++i) {
    const int pid = ::fork();
    if (pid == 0) {
      for (void* block : inherited) std::free(block);
      allocate(100 + i, 64);
      ::_exit(0);
    }
    ::waitpid(pid, nullptr, 0);
  }
}

constexpr Way kWays[] = {Way::kPerfHash};
/// Points, and the probes of other functions, pass on as well.
constexpr Way kFollowWays[] = {Way::kPointsArena, Way::kPerfHash};

KERNEL_TEST_ON(following, children_count_from_their_first_instruction, kWays) {
  constexpr std::size_t kChildren = 20;
  const TestEngine test(way, {.follows_children = true});
  const Library library;
  ToldWorker worker([] { fork_children(kChildren); });
  Tracer tracer = library.trace(*test.engine, worker.pid(), true);
  worker.run();
  std::vector<Birth> births = test.engine->take_births();
  ASSERT_EQ(births.size(), kChildren);
  const std::vector<Drained> drained = test.engine->drain();
  for (std::size_t i = 0; i < kChildren; ++i) {
    EXPECT_EQ(births[i].maker_program, tracer.program());
    EXPECT_FALSE(births[i].is_new_program);
    const Drained& child = drained[births[i].number];
    EXPECT_EQ(totals(child), (Counters{(100 + i) * 64, 100 + i, 0, 0})) << i;
    EXPECT_EQ(child.frees_of_untraced, 50U);
    EXPECT_EQ(child.losses.total(), 0U);
  }
  EXPECT_EQ(totals(drained[tracer.number()]), (Counters{50 * 40, 50, 0, 0}));
  EXPECT_EQ(drained[tracer.number()].losses.total(), 0U);
  tracer.stop();
  test.engine->stop();
}

/// More than there are places for: those of children that have ended are given again, with their stacks.
KERNEL_TEST_ON(following, places_of_ended_children_are_given_again, kWays) {
  constexpr std::size_t kRounds = 12, kChildren = 200;
  const TestEngine test(way, {.follows_children = true});
  const Library library;
  ToldWorker worker([] { fork_children(kChildren); });
  Tracer tracer = library.trace(*test.engine, worker.pid(), true);
  for (std::size_t round = 0; round < kRounds; ++round) {
    worker.run();
    std::vector<Tracer> children;
    children.reserve(kChildren);
    const std::vector<Birth> births = test.engine->take_births();
    ASSERT_EQ(births.size(), kChildren) << round;
    for (const Birth& birth : births) children.push_back(Tracer::adopt(*test.engine, birth, &tracer));
    const std::vector<Drained> drained = test.engine->drain();
    for (std::size_t i = 0; i < kChildren; ++i) {
      const Drained& child = drained[births[i].number];
      ASSERT_EQ(totals(child), (Counters{(100 + i) * 64, 100 + i, 0, 0})) << round << ": " << i;
      ASSERT_EQ(child.new_stacks.empty(), false);
      ASSERT_EQ(child.losses.total(), 0U);
      ASSERT_EQ(child.frees_of_untraced, 50U);
    }
  }
  tracer.stop();
  test.engine->stop();
}

KERNEL_TEST_ON(following, prefork, kFollowWays) { expect_family(way, "prefork", "8", 9); }
KERNEL_TEST_ON(following, fork_and_exec, kFollowWays) { expect_family(way, "chain", "5", 5); }
KERNEL_TEST_ON(following, vfork_and_exec, kFollowWays) { expect_family(way, "vfork", "6", 7); }
KERNEL_TEST_ON(following, posix_spawn, kFollowWays) { expect_family(way, "spawn", "6", 7); }
KERNEL_TEST_ON(following, processes_that_go_on, kFollowWays) { expect_family(way, "starter", "60", 61); }
KERNEL_TEST_ON(following, clone_with_the_same_memory, kFollowWays) { expect_family(way, "sharer", "4", 1); }
KERNEL_TEST_ON(following, programs_that_cannot_be_executed, kFollowWays) { expect_family(way, "failing", "20", 21); }
KERNEL_TEST_ON(following, a_bomb_of_forks, kFollowWays) { expect_family(way, "bomb", "6", 127); }
KERNEL_TEST_ON(following, exec_by_another_thread, kFollowWays) { expect_family(way, "thread", "8", 9); }
KERNEL_TEST_ON(following, forks_of_processes_on_the_same_memory, kFollowWays) {
  expect_family(way, "sharer_forks", "6", 7);
}

/// Each process is its own, whichever number it has: all that they say, and all that is said of them.
KERNEL_TEST_ON(following, processes_of_the_same_number, kFollowWays) {
  const ScratchDirectory directory;
  const nlohmann::json report = trace_family(way, directory, {"reuse", directory.path("ledger"), "3"});
  EXPECT_TRUE(report.at("exact").get<bool>()) << report.at("losses");
  std::vector<std::pair<int, OfProcess>> said = family_lines(directory.path("ledger")), traced;
  for (const nlohmann::json& target : report.at("targets"))
    traced.emplace_back(target.at("pid").get<int>(), numbers_of(target));
  std::map<int, std::size_t> times;
  for (const auto& [pid, numbers] : said) ++times[pid];
  EXPECT_EQ(std::count_if(times.begin(), times.end(), [](const auto& time) { return time.second == 2; }), 3);
  std::sort(said.begin(), said.end());
  std::sort(traced.begin(), traced.end());
  EXPECT_EQ(said, traced);
}

/// A command that makes a container: its processes have namespaces, a root directory and a libc of their own, and
/// numbers that they do not know themselves.
KERNEL_TEST_ON(following, processes_in_a_container, kFollowWays) {
  const ScratchDirectory directory;
  const std::filesystem::path root = directory.path("root");
  std::filesystem::create_directories(root / "lib64");
  std::filesystem::create_directories(root / "lib/x86_64-linux-gnu");
  std::filesystem::copy_file("/lib64/ld-linux-x86-64.so.2", root / "lib64/ld-linux-x86-64.so.2");
  std::filesystem::copy_file("/lib/x86_64-linux-gnu/libc.so.6", root / "lib/x86_64-linux-gnu/libc.so.6");
  std::filesystem::copy_file(ledger_path("family"), root / "family");
  const nlohmann::json report = trace_command(way, directory,
                                              {"unshare", "--mount", "--pid", "--fork", "--user", "--map-root-user",
                                               "chroot", root, "/family", "prefork", "/ledger", "8"},
                                              {"--hold"});
  EXPECT_TRUE(report.at("exact").get<bool>()) << report.at("losses");
  std::vector<OfProcess> said, traced;
  for (const auto& [pid, numbers] : read_family(root / "ledger")) said.push_back(numbers);
  for (const nlohmann::json& target : report.at("targets")) {
    if (target.at("exe") == "/family") traced.push_back(numbers_of(target));
  }
  std::sort(said.begin(), said.end());
  std::sort(traced.begin(), traced.end());
  EXPECT_EQ(said.size(), 9U);
  EXPECT_EQ(said, traced);
}

/// With one set of probes for all that map a file, which children have by that.
constexpr Way kFileWays[] = {Way::kPointsArena, Way::kSessionArena, Way::kSessionHash};
KERNEL_TEST_ON(following, by_links_for_files, kFileWays) {
  struct Case {
    const char* how;
    const char* count;
    std::size_t processes;
  };
  for (const Case& family : {Case{"prefork", "8", 9}, Case{"chain", "5", 5}, Case{"vfork", "6", 7},
                             Case{"spawn", "6", 7}, Case{"starter", "60", 61}, Case{"sharer", "4", 1}}) {
    SCOPED_TRACE(family.how);
    expect_family(way, family.how, family.count, family.processes, {"--links", "file"});
  }
}

/// More than there are places for. Those for which there was none are counted, and no other number suffers.
KERNEL_TEST_ON(following, more_children_than_places, kFollowWays) {
  constexpr std::size_t kChildren = 900;
  const ScratchDirectory directory;
  const nlohmann::json report =
      trace_family(way, directory, {"storm", directory.path("ledger"), std::to_string(kChildren)});
  const Family family = read_family(directory.path("ledger"));
  EXPECT_EQ(family.size(), kChildren + 1);
  std::size_t untraced = 0;
  for (const nlohmann::json& target : report.at("targets")) {
    const std::size_t its_untraced = target.at("losses").at("untraced_children");
    EXPECT_EQ(target.at("exact"), its_untraced == 0) << target;
    EXPECT_TRUE(target.at("numbers_exact").get<bool>()) << target;
    EXPECT_EQ(numbers_of(target), family.at(target.at("pid").get<int>())) << target.at("pid");
    untraced += its_untraced;
  }
  EXPECT_EQ(report.at("targets").size() + untraced, kChildren + 1);
  EXPECT_EQ(report.at("exact"), untraced == 0);
}

/// The first process ends, and then the one between.
KERNEL_TEST_ON(following, daemons, kFollowWays) {
  const ScratchDirectory directory;
  const nlohmann::json report = trace_family(way, directory, {"daemon", directory.path("ledger"), "40"});
  EXPECT_TRUE(report.at("exact").get<bool>());
  const Family family = read_family(directory.path("ledger")), traced = family_in(report);
  ASSERT_EQ(family.size(), 2U);
  EXPECT_EQ(traced.size(), 3U);
  for (const auto& [pid, process] : family) EXPECT_EQ(traced.at(pid), process) << pid;
}

}  // namespace
}  // namespace hawk
