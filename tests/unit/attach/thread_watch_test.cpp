#include "userspace/attach/thread_watch.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <future>
#include <thread>

#include "tests/support/elf_fixture.h"

namespace hawk {
namespace {

/// A process as /proc shows it.
struct FakeProcess {
  void name(int tid, const std::string& name) const {
    directory.write("task/" + std::to_string(tid) + "/comm", name + "\n");
  }
  void end(int tid) const { std::filesystem::remove_all(directory.path() + "/task/" + std::to_string(tid)); }

  testing::TemporaryDirectory directory;
};

TEST(ThreadWatch, SeesThreadsOfThisProcess) {
  ThreadWatch watch("/proc/self");
  watch.read(1);
  std::promise<int> tid;
  std::promise<void> done;
  std::thread thread([&] {
    ::pthread_setname_np(::pthread_self(), "a (b)\nc");
    tid.set_value(static_cast<int>(::syscall(SYS_gettid)));
    done.get_future().wait();
  });
  const int id = tid.get_future().get();
  watch.read(2);
  const std::vector<NamedThread> threads = named_threads(watch.events());
  ASSERT_GE(threads.size(), 2U);
  EXPECT_EQ(threads.front(), (NamedThread{::getpid(), "unit_attach", 1, {}}));
  EXPECT_EQ(threads.back(), (NamedThread{id, "a (b)\nc", 2, {}}));
  done.set_value();
  thread.join();
  // Joined, it may still be on its way out of the kernel.
  while (std::filesystem::exists("/proc/self/task/" + std::to_string(id))) ::sched_yield();
  watch.read(3);
  EXPECT_EQ(named_threads(watch.events()).back(), (NamedThread{id, "a (b)\nc", 2, 3}));
}

TEST(ThreadWatch, NoticesNewNames) {
  const FakeProcess process;
  process.name(7, "main");
  ThreadWatch watch(process.directory.path());
  watch.read(0);
  watch.read(1);
  EXPECT_EQ(watch.events().size(), 1U);
  process.name(7, "");
  watch.read(2);
  EXPECT_EQ(named_threads(watch.events()), (std::vector<NamedThread>{{7, "main", 0, 2}, {7, "", 2, {}}}));
}

/// In /proc the open file of the old one has nothing any more.
TEST(ThreadWatch, ANumberThatIsGivenAgainIsAnotherThread) {
  const FakeProcess process;
  process.name(7, "main");
  process.name(8, "first");
  ThreadWatch watch(process.directory.path());
  watch.read(0);
  const std::string name = process.directory.path() + "/task/8/comm";
  std::filesystem::resize_file(name, 0);
  std::filesystem::rename(name, name + ".old");
  process.name(8, "second");
  watch.read(1);
  watch.read(2);
  EXPECT_EQ(named_threads(watch.events()),
            (std::vector<NamedThread>{{7, "main", 0, {}}, {8, "first", 0, 1}, {8, "second", 1, {}}}));
}

TEST(ThreadWatch, WhatIsKnownOfAProcessThatIsGoneStays) {
  const FakeProcess process;
  process.name(7, "main");
  ThreadWatch watch(process.directory.path());
  watch.read(0);
  process.end(7);
  watch.read(1);
  EXPECT_EQ(named_threads(watch.events()), (std::vector<NamedThread>{{7, "main", 0, {}}}));
  ThreadWatch never("/proc/none");
  never.read(0);
  EXPECT_TRUE(never.events().empty());
}

TEST(ThreadWatch, SpreadsTheWorkWithManyThreads) {
  const FakeProcess process;
  for (int tid = 1; tid <= 1100; ++tid) process.name(tid, "before");
  ThreadWatch watch(process.directory.path());
  watch.read(0);
  EXPECT_EQ(watch.events().size(), 1024U);
  watch.read(1);
  EXPECT_EQ(watch.events().size(), 1100U);
  for (int tid = 1; tid <= 1100; ++tid) process.name(tid, "after");
  for (int reading = 0; reading < 9; ++reading) watch.read(2);
  const std::vector<NamedThread> threads = named_threads(watch.events());
  ASSERT_EQ(threads.size(), 2200U) << "each in its turn";
  EXPECT_EQ(threads.back().name, "after");
}

/// A process that makes threads for ever.
TEST(ThreadWatch, NamesHaveALimit) {
  const FakeProcess process;
  process.name(1, "main");
  ThreadWatch watch(process.directory.path(), 3);
  for (int reading = 0; reading < 5; ++reading) {
    process.name(1, std::to_string(reading));
    process.name(100 + reading, "more");
    watch.read(static_cast<std::uint64_t>(reading));
  }
  const std::vector<NamedThread> expected = {{1, "0", 0, 1}, {100, "more", 0, {}}, {1, "1", 1, 2}};
  EXPECT_EQ(named_threads(watch.events()), expected) << "what a thread is called later is not kept";
}

}  // namespace
}  // namespace hawk
