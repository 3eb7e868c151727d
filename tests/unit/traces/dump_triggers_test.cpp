#include "userspace/traces/dump_triggers.h"

#include <gtest/gtest.h>

#include <vector>

namespace hawk {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

Counters live(std::uint64_t bytes) { return {.allocated_bytes = bytes, .allocated_count = bytes != 0 ? 1U : 0U}; }

/// The causes of the dumps that a row of drains makes.
std::vector<DumpCause> dumps_of(DumpTriggers& triggers, const std::vector<Counters>& drains) {
  std::vector<DumpCause> causes;
  for (const Counters& totals : drains) {
    const DumpCause cause = triggers.due(totals);
    if (cause == DumpCause::kNone) continue;
    triggers.dumped(cause, totals);
    causes.push_back(cause);
  }
  return causes;
}
using Causes = std::vector<DumpCause>;

TEST(DumpTriggers, WithoutOptionsNothingIsDue) {
  DumpTriggers triggers({});
  EXPECT_EQ(dumps_of(triggers, {live(0), live(100 * kMiB), live(~std::uint64_t{0})}), Causes{});
}

TEST(DumpTriggers, BytesAllocatedCountFromTheLastDumpForThem) {
  DumpTriggers triggers({.allocated_bytes = 100, .growth_bytes = {}});
  EXPECT_EQ(dumps_of(triggers, {live(99), live(100), live(199), live(1000), live(1099)}),
            (Causes{DumpCause::kAllocated, DumpCause::kAllocated}));
}

TEST(DumpTriggers, GrowthCountsFromTheLastDumpOfAnyCause) {
  DumpTriggers triggers({.allocated_bytes = {}, .growth_bytes = 100});
  EXPECT_EQ(triggers.due(live(90)), DumpCause::kNone);
  triggers.dumped(DumpCause::kSignal, live(90));
  EXPECT_EQ(triggers.due(live(189)), DumpCause::kNone);
  EXPECT_EQ(triggers.due(live(190)), DumpCause::kGrowth);
  Counters freed = live(1000);
  freed.freed_bytes = 995;
  EXPECT_EQ(triggers.due(freed), DumpCause::kNone);
}

TEST(DumpTriggers, ASlowClimbMakesFewDumpsOfPeaks) {
  DumpTriggers triggers({.allocated_bytes = {}, .growth_bytes = {}, .at_peak = true});
  std::vector<Counters> climb;
  for (std::uint64_t bytes = 0; bytes <= 1000 * kMiB; bytes += 64 * 1024) climb.push_back(live(bytes));
  const Causes causes = dumps_of(triggers, climb);
  EXPECT_GE(causes.size(), 40U);
  EXPECT_LE(causes.size(), 70U) << "log(1000) / log(1.1), and the first ten MiB";
  EXPECT_EQ(triggers.due(live(1000 * kMiB)), DumpCause::kNone);
}

TEST(DumpTriggers, WithAnotherProgramAllBeginsAnew) {
  DumpTriggers triggers({.allocated_bytes = 100, .growth_bytes = 50, .at_peak = true});
  EXPECT_EQ(dumps_of(triggers, {live(10 * kMiB), live(10), live(60), live(90), live(109), live(110)}),
            (Causes{DumpCause::kPeak, DumpCause::kGrowth, DumpCause::kAllocated}));
}

}  // namespace
}  // namespace hawk
