#include "userspace/serving/background_work.h"

#include <gtest/gtest.h>

#include <new>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

namespace hawk {
namespace {

TEST(BackgroundWork, IsDoneInOrderOnOneOtherThread) {
  EventLoop loop;
  const auto work = std::move(*BackgroundWork::make(loop, 3));
  std::vector<std::thread::id> threads;
  std::string done;
  std::vector<std::shared_ptr<void>> wanted;
  for (const char* name : {"1", "2", "3"}) {
    wanted.push_back(work->ask([&] { threads.push_back(std::this_thread::get_id()); },
                               [&, name](bool is_complete) {
                                 EXPECT_TRUE(is_complete);
                                 done += name;
                                 if (done.size() == 3) loop.end();
                               }));
  }
  EXPECT_TRUE(work->is_full());
  EXPECT_EQ(work->ask([] {}, [](bool) {}), nullptr);
  ASSERT_TRUE(loop.run().has_value());
  EXPECT_EQ(done, "123");
  EXPECT_FALSE(work->is_full());
  EXPECT_EQ(threads, std::vector<std::thread::id>(3, threads[0]));
  EXPECT_NE(threads[0], std::this_thread::get_id());
}

TEST(BackgroundWork, WhatNobodyWantsAnyMoreIsNotBegun) {
  EventLoop loop;
  const auto work = std::move(*BackgroundWork::make(loop, 3));
  std::binary_semaphore go{0};
  bool begun = false;
  const auto first = work->ask([&] { go.acquire(); }, [](bool) {});
  work->ask([&] { begun = true; }, [](bool) { ADD_FAILURE() << "nobody wants it"; });
  const auto last = work->ask([] {}, [&loop](bool) { loop.end(); });
  go.release();
  ASSERT_TRUE(loop.run().has_value());
  EXPECT_FALSE(begun);
}

TEST(BackgroundWork, MemoryThatIsMissingIsSaid) {
  EventLoop loop;
  const auto work = std::move(*BackgroundWork::make(loop, 3));
  bool was_complete = true;
  const auto wanted = work->ask([] { throw std::bad_alloc(); },
                                [&](bool is_complete) {
                                  was_complete = is_complete;
                                  loop.end();
                                });
  ASSERT_TRUE(loop.run().has_value());
  EXPECT_FALSE(was_complete);
}

TEST(BackgroundWork, EndsWithWhatWaits) {
  EventLoop loop;
  std::vector<std::shared_ptr<void>> wanted;
  std::binary_semaphore go{0};
  auto work = std::move(*BackgroundWork::make(loop, 3));
  wanted.push_back(work->ask([&] { go.acquire(); }, [](bool) {}));
  wanted.push_back(work->ask([] {}, [](bool) {}));
  std::jthread releaser([&] { go.release(); });
  work.reset();
}

}  // namespace
}  // namespace hawk
