#include "userspace/tracer/attach_way.h"

#include <gtest/gtest.h>

#include "userspace/tracer/features.h"

namespace hawk {
namespace {

TEST(AttachWay, NamesAndValuesAreEachOthersInverse) {
  for (const AttachWay way : {AttachWay::kPoints, AttachWay::kSession, AttachWay::kMulti, AttachWay::kPerf}) {
    EXPECT_EQ(parse_attach_way(attach_way_name(way)), way);
  }
  EXPECT_EQ(parse_attach_way("auto"), std::nullopt);
}

TEST(ChooseAttachWay, TakesTheBestThatTheKernelHas) {
  EXPECT_EQ(choose_attach_way({.uprobe_multi = true, .uprobe_session = true}, std::nullopt), AttachWay::kSession);
  EXPECT_EQ(choose_attach_way({.uprobe_multi = true}, std::nullopt), AttachWay::kMulti);
  EXPECT_EQ(choose_attach_way({}, std::nullopt), AttachWay::kPerf);
}

TEST(ChooseAttachWay, SeveralProcessesNeedAFilter) {
  EXPECT_EQ(choose_attach_way({.uprobe_multi = true}, std::nullopt, true), AttachWay::kPerf);
  EXPECT_EQ(choose_attach_way({.uprobe_multi = true, .pid_filter = true}, std::nullopt, true), AttachWay::kMulti);
}

TEST(ChooseAttachWay, RefusesAForcedWayThatTheKernelLacks) {
  EXPECT_EQ(choose_attach_way({}, AttachWay::kPerf), AttachWay::kPerf);
  const Result<AttachWay> refused = choose_attach_way({.uprobe_multi = true}, AttachWay::kSession);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().exit_code, ExitCode::kPrivilege);
  EXPECT_FALSE(refused.error().hint.empty());
}

TEST(ShouldFollowPlans, NotByPerfEventsOfTheirOwn) {
  EXPECT_TRUE(should_follow_plans(AttachWay::kSession, false));
  EXPECT_TRUE(should_follow_plans(AttachWay::kMulti, false));
  EXPECT_FALSE(should_follow_plans(AttachWay::kPerf, false));
  EXPECT_TRUE(should_follow_plans(AttachWay::kPerf, true));
}

}  // namespace
}  // namespace hawk
