#include "userspace/daemon/memory_watch.h"

#include <gtest/gtest.h>

namespace hawk {
namespace {

using namespace std::chrono_literals;
using Cause = WatchFinding::Cause;

constexpr std::uint64_t kMib = 1 << 20;

MemorySample sample(int seconds, std::uint64_t used_mib, std::optional<std::uint64_t> left_mib = {}) {
  MemorySample made = {.time = std::chrono::steady_clock::time_point{} + 1000h + std::chrono::seconds(seconds),
                       .used_bytes = used_mib * kMib};
  if (left_mib) made.left_bytes = *left_mib * kMib;
  return made;
}

/// How many findings there are if `mib` is used at one sample after the other, each 10 s, with that limit.
std::vector<Cause> findings(MemoryWatch& watch, const std::vector<std::uint64_t>& mib, std::uint64_t limit_mib) {
  std::vector<Cause> found;
  int seconds = 0;
  for (const std::uint64_t used : mib) {
    const auto finding = watch.note(sample(seconds += 10, used, limit_mib - used));
    if (finding) found.push_back(finding->cause);
  }
  return found;
}

TEST(MemoryWatch, FindsGrowthThatReachesTheLimitSoon) {
  MemoryWatch watch({});
  // 20 MiB in 10 s: 64 MiB after 4 samples; 30 minutes are 3.5 GiB away.
  EXPECT_EQ(findings(watch, {100, 120, 140, 160, 180}, 2000), std::vector<Cause>{Cause::kTimeToLimit});
}

TEST(MemoryWatch, IgnoresALimitThatIsFarAway) {
  MemoryWatch watch({});
  EXPECT_TRUE(findings(watch, {100, 120, 140, 160, 180, 200}, 100'000).empty());
}

TEST(MemoryWatch, IgnoresSmallGrowthAndPlateaus) {
  MemoryWatch watch({});
  EXPECT_TRUE(findings(watch, {100, 101, 102, 103, 104, 105, 106, 107}, 200).empty());
  MemoryWatch flat({});
  EXPECT_TRUE(findings(flat, std::vector<std::uint64_t>(20, 1000), 1001).empty());
}

TEST(MemoryWatch, IsNotMisledByOneOutlier) {
  MemoryWatch watch({});
  EXPECT_TRUE(findings(watch, {100, 100, 100, 100, 900, 100, 100, 100}, 1000).empty());
  EXPECT_EQ(watch.bytes_per_second(), 0.0);
}

TEST(MemoryWatch, IsArmedAgainTenPercentHigher) {
  MemoryWatch watch({.high_water_bytes = 100 * kMib});
  std::vector<std::uint64_t> climb;
  for (std::uint64_t mib = 90; mib <= 150; ++mib) climb.push_back(mib);
  // At 100, 110, 121, 134 (133.1) and 148 (147.4).
  EXPECT_EQ(findings(watch, climb, 100'000), std::vector<Cause>(5, Cause::kHighWater));
}

TEST(MemoryWatch, IsArmedAgainAfterARestart) {
  MemoryWatch watch({.high_water_bytes = 100 * kMib});
  EXPECT_EQ(findings(watch, {100, 101, 10, 100}, 100'000).size(), 2U);
}

TEST(MemoryWatch, FindsPressure) {
  MemoryWatch watch({.pressure_percent = 20.0});
  MemorySample waits = sample(0, 100);
  waits.pressure_percent = 19.9;
  EXPECT_FALSE(watch.note(waits));
  waits.pressure_percent = 20.0;
  const auto finding = watch.note(waits);
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->cause, Cause::kPressure);
  EXPECT_EQ(finding->text, "its cgroup waits for memory 20 % of the time");
}

TEST(MemoryWatch, SaysWhatItHasFound) {
  MemoryWatch watch({});
  std::optional<WatchFinding> finding;
  for (int i = 0; i < 5 && !finding; ++i)
    finding = watch.note(sample(i * 10, 100 + 30 * static_cast<unsigned>(i), 300));
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->text,
            "190.00 MiB are used, growing by 180.00 MiB a minute: the limit, 300.00 MiB more, is reached in 1 m 40 s");
}

}  // namespace
}  // namespace hawk
