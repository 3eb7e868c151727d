#include "userspace/attach/tracing_usage.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace hawk {
namespace {

TEST(TracingUsage, CpuTimeStandsBehindTheNameWhateverThatHolds) {
  constexpr const char* kStat = "42 (a) b (c) S 1 42 42 0 -1 4194304 1 2 3 4 150 25 7 8 20 0 1 0 99 1 2";
  EXPECT_EQ(cpu_ns_in_stat(kStat, 100), std::optional<std::uint64_t>(1'750'000'000));
  for (const char* wrong :
       {"", "42 (a", "42 (a)", "42 (a) S 1 42 42 0 -1 4194304 1 2 3 4 150", "42 (a) S x x x x x x x x x x x x x"}) {
    EXPECT_EQ(cpu_ns_in_stat(wrong, 100), std::nullopt) << wrong;
  }
}

TEST(TracingUsage, IsOfThisProcessAndOfWhatTheTargetTookMeanwhile) {
  UsageMeter meter(::getpid());
  meter.begin(false);
  meter.look();
  const TracingUsage first = meter.read(123);
  EXPECT_EQ(first.table_bytes, 123U);
  EXPECT_GT(first.peak_resident_bytes, 100'000U);
  ASSERT_TRUE(first.target_cpu_ns);
  for (TracingUsage now = first; *now.target_cpu_ns < *first.target_cpu_ns + 20'000'000;) {
    meter.look();
    now = meter.read(0);
    EXPECT_GE(now.cpu_ns, first.cpu_ns);
  }
  UsageMeter none(0);
  none.begin(true);
  none.look();
  EXPECT_EQ(none.read(0).target_cpu_ns, std::nullopt);
}

}  // namespace
}  // namespace hawk
