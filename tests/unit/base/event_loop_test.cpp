#include "userspace/base/event_loop.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <string>

namespace hawk {
namespace {

using namespace std::chrono_literals;

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    reader = UniqueFd(ends[0]);
    writer = UniqueFd(ends[1]);
  }
  void put() const { EXPECT_EQ(::write(writer.get(), "x", 1), 1); }
  void take() const {
    char byte = 0;
    EXPECT_EQ(::read(reader.get(), &byte, 1), 1);
  }
  UniqueFd reader;
  UniqueFd writer;
};

TEST(EventLoop, CallsInTheOrderOfAddingWhatHappenedAtOnceAndEndsAfterAllOfIt) {
  Pipe first;
  Pipe second;
  first.put();
  second.put();
  EventLoop loop;
  std::string calls;
  loop.watch(first.reader.get(), [&](short) -> Result<void> {
    calls += "1";
    loop.end();
    return {};
  });
  loop.watch(second.reader.get(), [&](short) -> Result<void> {
    calls += "2";
    return {};
  });
  EXPECT_TRUE(loop.run().has_value());
  EXPECT_EQ(calls, "12");
}

TEST(EventLoop, CallsAgainAsLongAsThereIsSomethingToRead) {
  Pipe pipe;
  pipe.put();
  pipe.put();
  EventLoop loop;
  int calls = 0;
  loop.watch(pipe.reader.get(), [&](short) -> Result<void> {
    pipe.take();
    if (++calls == 2) loop.end();
    return {};
  });
  EXPECT_TRUE(loop.run().has_value());
  EXPECT_EQ(calls, 2);
}

TEST(EventLoop, TellsOfAHangUpAndForgetsWhatItIsToldTo) {
  Pipe pipe;
  Pipe other;
  pipe.writer.reset();
  other.put();
  EventLoop loop;
  int calls = 0;
  loop.watch(pipe.reader.get(), [&](short events) -> Result<void> {
    EXPECT_NE(events & POLLHUP, 0);
    ++calls;
    loop.forget(pipe.reader.get());
    return {};
  });
  int rounds = 0;
  loop.watch(other.reader.get(), [&](short) -> Result<void> {
    if (++rounds == 3) loop.end();
    return {};
  });
  EXPECT_TRUE(loop.run().has_value());
  EXPECT_EQ(calls, 1);
}

TEST(EventLoop, DoesNotCallWhatWasForgottenByAHandlerBefore) {
  Pipe first;
  Pipe second;
  first.put();
  second.put();
  EventLoop loop;
  loop.watch(first.reader.get(), [&](short) -> Result<void> {
    loop.forget(second.reader.get());
    loop.end();
    return {};
  });
  bool called = false;
  loop.watch(second.reader.get(), [&](short) -> Result<void> {
    called = true;
    return {};
  });
  EXPECT_TRUE(loop.run().has_value());
  EXPECT_FALSE(called);
}

TEST(EventLoop, AHandlerMayAddOthers) {
  Pipe pipe;
  pipe.put();
  EventLoop loop;
  bool called = false;
  loop.watch(pipe.reader.get(), [&](short) -> Result<void> {
    pipe.take();
    HAWK_TRY_VOID(loop.add_timer(1ns, {}, [&](short) -> Result<void> {
      called = true;
      loop.end();
      return {};
    }));
    return {};
  });
  EXPECT_TRUE(loop.run().has_value());
  EXPECT_TRUE(called);
}

TEST(EventLoop, ATimerRepeatsIfItIsToldTo) {
  EventLoop loop;
  int repeated = 0;
  int once = 0;
  EXPECT_TRUE(loop.add_timer(1ns, {},
                             [&](short) -> Result<void> {
                               ++once;
                               return {};
                             })
                  .has_value());
  EXPECT_TRUE(loop.add_timer(1ms, 1ms,
                             [&](short) -> Result<void> {
                               if (++repeated == 3) loop.end();
                               return {};
                             })
                  .has_value());
  EXPECT_TRUE(loop.run().has_value());
  EXPECT_EQ(once, 1);
  EXPECT_EQ(repeated, 3);
}

TEST(EventLoop, WaitsForRoomToWriteOnlyAsLongAsItIsToldTo) {
  Pipe pipe;
  EventLoop loop;
  int calls = 0;
  loop.watch(
      pipe.writer.get(),
      [&](short events) -> Result<void> {
        EXPECT_NE(events & POLLOUT, 0);
        if (++calls == 2) loop.set_events(pipe.writer.get(), 0);
        return {};
      },
      POLLOUT);
  EXPECT_TRUE(loop.add_timer(1ms, 1ms,
                             [&](short) -> Result<void> {
                               if (calls >= 2) loop.end();
                               return {};
                             })
                  .has_value());
  EXPECT_TRUE(loop.run().has_value());
  EXPECT_EQ(calls, 2);
}

TEST(EventLoop, AHandlerMayForgetItselfAndWatchAnotherOfTheSameNumber) {
  Pipe pipe;
  pipe.put();
  EventLoop loop;
  const int number = pipe.reader.get();
  std::string calls;
  const auto second = [&](short) -> Result<void> {
    calls += "2";
    loop.end();
    return {};
  };
  loop.watch(number,
             [&, text = std::string("1 and longer than what a std::string holds in place")](short) -> Result<void> {
               loop.forget(number);
               loop.watch(number, second);
               calls += text.substr(0, 1);
               return {};
             });
  EXPECT_TRUE(loop.run().has_value());
  EXPECT_EQ(calls, "12");
}

TEST(EventLoop, ARemovedTimerDoesNotFireAndOneThatFiresOnceClosesItsDescriptor) {
  EventLoop loop;
  const auto not_called = [](short) -> Result<void> { return fail(ExitCode::kInternal, "it has been removed"); };
  const int lowest = UniqueFd(::dup(STDIN_FILENO)).get();
  const Result<TimerId> removed = loop.add_timer(1ns, 1ns, not_called);
  ASSERT_TRUE(removed.has_value());
  loop.remove_timer(*removed);
  loop.remove_timer(*removed);
  const Result<TimerId> once = loop.add_timer(1ns, {}, [](short) -> Result<void> { return {}; });
  ASSERT_TRUE(once.has_value());
  EXPECT_NE(*once, *removed);
  EXPECT_TRUE(loop.add_timer(1ms, 1ms,
                             [&](short) -> Result<void> {
                               // That of the timer that has fired.
                               EXPECT_EQ(UniqueFd(::dup(STDIN_FILENO)).get(), lowest);
                               loop.end();
                               return {};
                             })
                  .has_value());
  EXPECT_TRUE(loop.run().has_value());
}

TEST(EventLoop, AFailureOfAHandlerEndsIt) {
  Pipe pipe;
  pipe.put();
  EventLoop loop;
  loop.watch(pipe.reader.get(), [](short) -> Result<void> { return fail(ExitCode::kFile, "no more"); });
  const Result<void> result = loop.run();
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().what, "no more");
  EXPECT_FALSE(loop.has_ended());
}

}  // namespace
}  // namespace hawk
