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

TEST(TraceClock, TheFirstMarkMayComeAtOnce) {
  TraceClock clock([] { return milliseconds(0); });
  EXPECT_GT(clock.mark(), 0u) << "what was allocated before has stamp 0";
}

}  // namespace
}  // namespace hawk
