#include "userspace/attach/trace_clock.h"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "bpf/clock.h"

namespace hawk {
namespace {

using std::chrono::milliseconds;

TEST(TraceClock, StandsStillUntilItIsAdvanced) {
  milliseconds now{7};
  TraceClock clock([&] { return now; });
  EXPECT_EQ(clock.now_ms(), 0u);
  EXPECT_EQ(clock.advance(), hawk_stamp_of(7));
  now = milliseconds(1000);
  EXPECT_EQ(clock.now_ms(), 7u);
  EXPECT_EQ(clock.advance(), hawk_stamp_of(1000));
  EXPECT_EQ(clock.now_ms(), 1000u);
}

TEST(TraceClock, NeverGoesBack) {
  milliseconds now{500};
  TraceClock clock([&] { return now; });
  const std::uint32_t stamp = clock.advance();
  now = milliseconds(499);
  EXPECT_EQ(clock.advance(), stamp);
  now = milliseconds(-1);
  EXPECT_EQ(clock.advance(), stamp);
}

// What was allocated before a mark must never have the same stamp as what is allocated after it.
TEST(TraceClock, EveryMarkHasAStampOfItsOwn) {
  const milliseconds late{90LL * 24 * 3600 * 1000};  // where a stamp stands for 16 s
  for (const milliseconds now : {milliseconds(0), milliseconds(3), late}) {
    TraceClock clock([&] { return now; });
    std::uint32_t before = clock.advance();
    for (int i = 0; i < 3; ++i) {
      const std::uint32_t stamp = clock.mark();
      EXPECT_GT(stamp, before);
      EXPECT_EQ(clock.advance(), stamp) << "time has not gone on";
      EXPECT_EQ(clock.marks_ms().back(), hawk_stamp_ms(stamp));
      before = stamp;
    }
    EXPECT_EQ(clock.marks_ms().size(), 3u);
  }
}

// Each mark takes the clock on to another stamp. Beyond twelve hours one stands for more than a tenth of a second, and
// in a few days the clock would be ten times as fast.
TEST(TraceClock, MarksWithoutEndDoNotMakeItFast) {
  constexpr milliseconds kOften{100}, kBegin{20LL * 3600 * 1000}, kEnd{21LL * 3600 * 1000};
  milliseconds now = kBegin;
  TraceClock clock([&] { return now; });
  milliseconds marked = now;
  for (; now < kEnd; now += kOften) {
    clock.advance();
    if (now - marked < now / HAWK_STAMP_FRACTION) continue;  // as the loop of a trace does
    clock.mark();
    marked = now;
  }
  clock.advance();
  const std::uint64_t end_ms = static_cast<std::uint64_t>(kEnd.count());
  const std::uint64_t step_ms = hawk_stamp_ms(hawk_stamp_of(end_ms) + 1) - hawk_stamp_ms(hawk_stamp_of(end_ms));
  EXPECT_LE(clock.now_ms(), end_ms + 2 * step_ms);
  EXPECT_GE(clock.now_ms() + 2 * step_ms, end_ms);
  EXPECT_GT(clock.marks_ms().size(), 13'000u) << "more than every third begins one";
}

TEST(TraceClock, TheFirstMarkMayComeAtOnce) {
  TraceClock clock([] { return milliseconds(0); });
  EXPECT_GT(clock.mark(), 0u) << "what was allocated before has stamp 0";
}

}  // namespace
}  // namespace hawk
