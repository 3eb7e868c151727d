#include "userspace/report/unwind_shares.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/report/sample_snapshots.h"

namespace hawk {
namespace {

TEST(UnwindShares, EveryStackIsInOneGroup) {
  Sample sample = unwinding_sample();
  sample.add_stack(0, {5000, 5, 1000, 1}, {});
  const UnwindShares shares = unwind_shares(sample.snapshot);
  EXPECT_EQ(shares.by_quality[HAWK_STACK_COMPLETE], (StackGroup{2, {709'000, 79, 0, 0}}));
  EXPECT_EQ(shares.by_quality[HAWK_STACK_GUESSED], (StackGroup{2, {230'000, 23, 0, 0}}));
  EXPECT_EQ(shares.by_quality[HAWK_STACK_TRUNCATED], (StackGroup{3, {61'000, 16, 0, 0}}));
  EXPECT_EQ(shares.not_recorded, (StackGroup{1, {5000, 5, 1000, 1}}));
}

TEST(UnwindShares, EndsAreThoseOfStacksThatAreNotComplete) {
  Sample sample = unwinding_sample();
  const UnwindShares shares = unwind_shares(sample.snapshot);
  EXPECT_EQ(shares.by_end[HAWK_END_OUTERMOST], (StackGroup{1, {150'000, 15, 0, 0}})) << "a guess that got through";
  EXPECT_EQ(shares.by_end[HAWK_END_NULL_RETURN], (StackGroup{1, {80'000, 8, 0, 0}}));
  EXPECT_EQ(shares.by_end[HAWK_END_UNSUPPORTED], (StackGroup{1, {60'000, 6, 0, 0}}));
  EXPECT_EQ(shares.by_end[HAWK_END_DEPTH], (StackGroup{1, {400, 4, 0, 0}}));
  EXPECT_EQ(shares.by_end[HAWK_END_GAP], StackGroup{});
}

TEST(UnwindShares, AreTheSameWhereAllStacksAreKnownToBeComplete) {
  Sample sample;
  sample.add_stack(1, {700, 7, 100, 1}, {});
  sample.add_stack(2, {5000, 5, 0, 0}, {});
  const UnwindShares looked_at = unwind_shares(sample.snapshot);
  sample.snapshot.known_of_stacks.all_complete = true;
  const UnwindShares known = unwind_shares(sample.snapshot);
  EXPECT_EQ(known.by_quality, looked_at.by_quality);
  EXPECT_EQ(known.by_end, looked_at.by_end);
  EXPECT_EQ(known.not_recorded, looked_at.not_recorded);
}

TEST(UnwindCauses, NameTheFileWhereRulesEndedAndTheMostBytesFirst) {
  Sample sample = unwinding_sample();
  const std::vector<UnwindCause> causes = unwind_causes(sample.snapshot, Quantity::kLive);
  ASSERT_EQ(causes.size(), 5U);
  EXPECT_EQ(causes[0].quality, HAWK_STACK_GUESSED);
  EXPECT_EQ(causes[0].end, HAWK_END_NO_TABLE);
  EXPECT_EQ(causes[0].module, ModuleId{2});
  EXPECT_EQ(causes[1].end, HAWK_END_NO_CODE) << "in no file";
  EXPECT_EQ(causes[1].module, std::nullopt);
  EXPECT_EQ(causes[2].quality, HAWK_STACK_TRUNCATED);
  EXPECT_EQ(causes[2].end, HAWK_END_UNSUPPORTED);
  EXPECT_EQ(causes[2].module, ModuleId{3}) << "of the outermost frame";
  EXPECT_EQ(causes[3].end, HAWK_END_CHANGING);
  EXPECT_EQ(causes[3].module, std::nullopt) << "no file is at fault";
  EXPECT_EQ(causes[4].end, HAWK_END_DEPTH);
}

TEST(UnwindCauses, StacksOfOneCauseAreToldTogether) {
  Sample sample = unwinding_sample();
  const Location crypto = sample.snapshot.location(sample.snapshot.stacks[3].frames[1]);
  sample.add_stack(20, {1'000'000, 1, 999'999, 0}, {crypto}).end = HAWK_END_UNSUPPORTED;
  EXPECT_EQ(unwind_causes(sample.snapshot, Quantity::kLive)[2].group, (StackGroup{2, {1'060'000, 7, 999'999, 0}}));
  EXPECT_EQ(unwind_causes(sample.snapshot, Quantity::kAllocated)[0].group.stacks, 2U) << "by what was asked for";
}

TEST(UnwindCauses, AGuessThatNoFrameExplainsIsAGap) {
  Sample sample;
  const ModuleId exe = sample.add_module("/bin/x", "");
  sample.add_stack(1, {8, 1, 0, 0}, {sample.call(exe, {})}).guessed = true;
  const std::vector<UnwindCause> causes = unwind_causes(sample.snapshot, Quantity::kLive);
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_EQ(causes[0].end, HAWK_END_GAP);
  EXPECT_EQ(causes[0].module, std::nullopt);
}

TEST(UnwindCauses, GuessesThatWereAskedForHaveNone) {
  Sample sample = unwinding_sample();
  sample.snapshot.trace.unwind = "fp";
  EXPECT_TRUE(unwind_causes(sample.snapshot, Quantity::kLive).empty());
}

TEST(UnwindCauses, ModulesThatTheSnapshotDoesNotHaveAreNoReasonToCrash) {
  Sample sample = unwinding_sample();
  sample.snapshot.unwind.modules_without_table = {ModuleId{77}};
  sample.add_stack(20, {2'000'000, 1, 0, 0}, {{0x1000, ModuleId{78}, 0}}).guessed = true;
  EXPECT_EQ(unwind_causes(sample.snapshot, Quantity::kLive)[0].end, HAWK_END_GAP);
}

}  // namespace
}  // namespace hawk
