#include "userspace/selection/process_watch.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace hawk {
namespace {

ProcessFacts process(int pid, const std::string& executable, std::uint64_t start_ticks = 100) {
  return {.pid = pid,
          .parent = 1,
          .start_ticks = start_ticks,
          .comm = executable.substr(executable.rfind('/') + 1),
          .executable = executable,
          .cgroups = {}};
}

/// Of all that is called nginx, of which 10 was found first.
ProcessWatch watch_of_nginx() {
  return ProcessWatch(
      {.processes = {process(10, "/bin/nginx")}, .matcher = ProcessMatcher({.names = {"nginx"}}), .notes = {}});
}

std::vector<int> pids(const std::vector<ProcessFacts>& processes) {
  std::vector<int> numbers;
  for (const ProcessFacts& found : processes) numbers.push_back(found.pid);
  return numbers;
}

TEST(ProcessWatch, FindsThoseThatHaveBegunAndMatch) {
  ProcessWatch watch = watch_of_nginx();
  EXPECT_TRUE(watch.take_new({process(10, "/bin/nginx")}).empty());
  EXPECT_FALSE(watch.has_open());
  const std::vector<ProcessFacts> found =
      watch.take_new({process(10, "/bin/nginx"), process(11, "/bin/bash"), process(12, "/bin/nginx")});
  EXPECT_EQ(pids(found), std::vector<int>{12});
  EXPECT_TRUE(watch.has_open());
  watch.note_traced(found.front());
  EXPECT_FALSE(watch.has_open());
  EXPECT_TRUE(watch.take_new({process(10, "/bin/nginx"), process(12, "/bin/nginx")}).empty());
}

TEST(ProcessWatch, FindsAProcessWhoseNumberAnotherHad) {
  ProcessWatch watch = watch_of_nginx();
  EXPECT_EQ(pids(watch.take_new({process(10, "/bin/nginx", 101)})), std::vector<int>{10});
}

TEST(ProcessWatch, FindsAProcessThatHasBegunToRunAnotherFile) {
  ProcessWatch watch = watch_of_nginx();
  EXPECT_TRUE(watch.take_new({process(11, "/bin/bash")}).empty());
  EXPECT_EQ(pids(watch.take_new({process(11, "/bin/nginx")})), std::vector<int>{11});
}

TEST(ProcessWatch, OneThatIsTracedStaysSoWhateverItRuns) {
  ProcessWatch watch = watch_of_nginx();
  EXPECT_TRUE(watch.take_new({process(10, "/bin/bash")}).empty());
  EXPECT_TRUE(watch.take_new({process(10, "/opt/nginx")}).empty());
}

TEST(ProcessWatch, OneThatCannotBeTracedIsGivenUpUntilItRunsAnotherFile) {
  ProcessWatch watch = watch_of_nginx();
  bool is_given_up = false;
  for (std::size_t i = 0; i < ProcessWatch::kMostTries; ++i) {
    EXPECT_FALSE(is_given_up);
    const std::vector<ProcessFacts> found = watch.take_new({process(20, "/bin/nginx")});
    ASSERT_EQ(pids(found), std::vector<int>{20});
    is_given_up = watch.note_failed(found.front());
  }
  EXPECT_TRUE(is_given_up);
  EXPECT_FALSE(watch.has_open());
  EXPECT_TRUE(watch.take_new({process(20, "/bin/nginx")}).empty());
  EXPECT_EQ(pids(watch.take_new({process(20, "/usr/bin/nginx")})), std::vector<int>{20});
}

}  // namespace
}  // namespace hawk
