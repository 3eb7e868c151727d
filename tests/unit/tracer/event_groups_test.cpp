#include "userspace/tracer/event_groups.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <limits>

namespace hawk {
namespace {

/// A process that was a child of this one.
pid_t ended_process() {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(0);
  EXPECT_EQ(::waitpid(pid, nullptr, 0), pid);
  return pid;
}

TEST(EventGroups, AGroupTellsItsMaker) {
  const EventMaker maker{.pid_namespace = 4026531836, .pid = 4711, .start_time = 123456};
  EXPECT_EQ(group_name(maker, 2), "hawktrace_4026531836_4711_123456_2");
  EXPECT_EQ(maker_of("hawktrace_4026531836_4711_123456_2/e17"), maker);
}

/// The kernel takes at most 63 bytes.
TEST(EventGroups, NamesAreShortEnough) {
  const EventMaker maker{.pid_namespace = std::numeric_limits<std::uint32_t>::max(),
                         .pid = std::numeric_limits<int>::max(),
                         .start_time = std::numeric_limits<std::uint64_t>::max()};
  EXPECT_LE(group_name(maker, 9999).size(), 63U);
}

TEST(EventGroups, OthersHaveNoMaker) {
  for (const char* event :
       {"", "hawktrace_", "hawktrace_4711_0/e0", "hawktrace_1_2_3/e0", "hawktrace_1_2_3_4", "hawktrace_1_0_3_4/e0",
        "hawktrace_1_-2_3_4/e0", "hawktrace_1_2_3_4_5/e0", "perf_1_2_3_4/e0", "hawktrace_x_2_3_4/e0",
        "hawktrace_1_2_3_/e0", "hawktrace_99999999999999999999_2_3_4/e0"}) {
    EXPECT_EQ(maker_of(event), std::nullopt) << event;
  }
}

TEST(EventGroups, ThisProcessLives) {
  const EventMaker self = this_maker();
  EXPECT_NE(self.pid_namespace, 0U);
  EXPECT_EQ(self.pid, ::getpid());
  EXPECT_NE(self.start_time, 0U);
  EXPECT_FALSE(has_ended(self, self));
}

TEST(EventGroups, AProcessThatIsGoneHasEnded) {
  const EventMaker self = this_maker();
  EventMaker maker = self;
  maker.pid = ended_process();
  EXPECT_TRUE(has_ended(maker, self));
}

TEST(EventGroups, AProcessThatLives) {
  const EventMaker self = this_maker();
  int lines[2];
  ASSERT_EQ(::pipe(lines), 0);
  const pid_t pid = ::fork();
  if (pid == 0) {
    // Its own start, told to its parent.
    const EventMaker child = this_maker();
    ::_exit(::write(lines[1], &child, sizeof(child)) == sizeof(child) && ::pause() != 0 ? 0 : 1);
  }
  EventMaker maker;
  ASSERT_EQ(::read(lines[0], &maker, sizeof(maker)), static_cast<ssize_t>(sizeof(maker)));
  EXPECT_FALSE(has_ended(maker, self));
  // One that had the same number before.
  maker.start_time -= 1;
  EXPECT_TRUE(has_ended(maker, self));
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
}

TEST(EventGroups, NothingIsKnownOfAnotherNamespace) {
  const EventMaker self = this_maker();
  EventMaker maker = self;
  maker.pid = ended_process();
  maker.pid_namespace = 1;
  EXPECT_FALSE(has_ended(maker, self));
}

/// Of a hawktrace without /proc.
TEST(EventGroups, NothingIsKnownWithoutANamespace) {
  EventMaker self = this_maker();
  self.pid_namespace = 0;
  EventMaker maker = self;
  maker.pid = ended_process();
  EXPECT_FALSE(has_ended(maker, self));
}

}  // namespace
}  // namespace hawk
