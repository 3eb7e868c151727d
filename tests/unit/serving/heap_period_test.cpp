#include "userspace/serving/heap_period.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/report/sample_snapshots.h"

namespace hawk {
namespace {

Counters sum_of_stacks(const Snapshot& snapshot) {
  Counters sum;
  for (const StackRecord& stack : snapshot.stacks) sum += stack.counters;
  return sum;
}

Counters difference(Counters after, const Counters& before) {
  after -= before;
  return after;
}

TEST(HeapPeriod, IsWhatHasBeenAddedStackByStack) {
  const Snapshot before = service_sample().snapshot;
  const Snapshot after = later_service_sample().snapshot;
  const Snapshot period = heap_of_period(before, after, PeriodNumbers::kChange);
  EXPECT_EQ(period.totals, difference(after.totals, before.totals));
  EXPECT_EQ(sum_of_stacks(period), period.totals);
  // Stacks on which nothing has happened are left out, and one has come.
  EXPECT_LT(period.stacks.size(), after.stacks.size());
  EXPECT_GT(after.stacks.size(), before.stacks.size());
  EXPECT_EQ(period.trace.start_unix_ns, before.trace.start_unix_ns + before.trace.duration_ns);
  EXPECT_EQ(period.trace.start_unix_ns + period.trace.duration_ns, after.trace.start_unix_ns + after.trace.duration_ns);
}

TEST(HeapPeriod, LiveBytesMayHaveBecomeLess) {
  Sample before = service_sample();
  Sample after = service_sample();
  after.stack(1).counters.freed_bytes += 1000;
  after.stack(1).counters.freed_count += 1;
  after.stack(1).counters.allocated_bytes += 10;
  after.stack(1).counters.allocated_count += 1;
  const Snapshot period = heap_of_period(before.snapshot, after.snapshot, PeriodNumbers::kChange);
  ASSERT_EQ(period.stacks.size(), 1U);
  EXPECT_EQ(static_cast<std::int64_t>(period.totals.live_bytes()), -990);
  EXPECT_EQ(period.totals.allocated_bytes, 10U);
}

TEST(HeapPeriod, OrLiveBytesAreThoseAtItsEnd) {
  const Snapshot before = service_sample().snapshot;
  const Snapshot after = later_service_sample().snapshot;
  const Snapshot period = heap_of_period(before, after, PeriodNumbers::kLiveAtEnd);
  EXPECT_EQ(period.totals.allocated_bytes, after.totals.allocated_bytes - before.totals.allocated_bytes);
  EXPECT_EQ(period.totals.live_bytes(), after.totals.live_bytes());
  EXPECT_EQ(period.totals.live_count(), after.totals.live_count());
  EXPECT_EQ(sum_of_stacks(period), period.totals);
}

TEST(HeapPeriod, StackNumbersDoNotMatter) {
  const Snapshot before = service_sample().snapshot;
  Snapshot after = service_sample().snapshot;
  for (StackRecord& stack : after.stacks) stack.id = StackId{static_cast<std::uint32_t>(stack.id) + 1000};
  EXPECT_TRUE(heap_of_period(before, after, PeriodNumbers::kChange).stacks.empty());
}

TEST(HeapPeriod, AnotherProgramOrProcessBeginsAnew) {
  const Snapshot before = service_sample().snapshot;
  for (int i = 0; i < 3; ++i) {
    Snapshot after = service_sample().snapshot;
    if (i == 0) ++after.trace.exec_count;
    if (i == 1) ++after.targets.front().pid;
    if (i == 2) ++after.trace.start_unix_ns;
    EXPECT_EQ(heap_of_period(before, after, PeriodNumbers::kChange).totals, after.totals) << i;
  }
}

TEST(HeapPeriod, OfSeveralProcessesEachIsToldApart) {
  const Snapshot before = several_sample().snapshot;
  Snapshot after = before;
  ASSERT_GT(after.shares.size(), 1U);
  StackShare& share = after.shares.back();
  for (Counters* counters :
       {&share.counters, &after.totals, &after.parts[static_cast<std::size_t>(share.target)].totals,
        &std::find_if(after.stacks.begin(), after.stacks.end(), [&](const StackRecord& stack) {
           return stack.id == share.stack;
         })->counters}) {
    counters->allocated_bytes += 77;
    counters->allocated_count += 1;
  }
  const Snapshot period = heap_of_period(before, after, PeriodNumbers::kChange);
  ASSERT_EQ(period.stacks.size(), 1U);
  ASSERT_EQ(period.shares.size(), 1U);
  EXPECT_EQ(period.shares[0].target, share.target);
  EXPECT_EQ(period.shares[0].counters.allocated_bytes, 77U);
  EXPECT_EQ(period.stacks[0].counters, period.shares[0].counters);
  EXPECT_EQ(period.totals, period.shares[0].counters);
  EXPECT_EQ(period.parts[static_cast<std::size_t>(share.target)].totals, period.totals);
}

TEST(HeapPeriod, AProcessThatHasEndedIsInNeither) {
  const Snapshot before = several_sample().snapshot;
  Snapshot after = service_sample().snapshot;
  after.targets.front().pid = 99999;
  EXPECT_EQ(heap_of_period(before, after, PeriodNumbers::kChange).totals, after.totals);
}

}  // namespace
}  // namespace hawk
