// A C++ service with threads, caches, exceptions and frame pointers (service.cpp), stopped in the middle of its work.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/real/counted_process.h"

namespace hawk {
namespace {

class service : public testing::TestWithParam<Way> {
 protected:
  service() : target_({.setup = {.argv = {HAWK_SERVICE_PATH}}}) { EXPECT_EQ(target_.process().read_line(), "serving"); }

  /// Clients come, are served and go, while the service's own threads do what they do all the time.
  void serve(int rounds) {
    for (int round = 0; round < rounds; round++) {
      target_.process().send_byte();
      expect_served();
    }
  }

  /// Returns in the middle of a round.
  void begin_to_serve() {
    target_.process().send_byte();
    target_.wait_for_calls(2'000);
  }

  void expect_served() { ASSERT_EQ(target_.process().read_line(), "served"); }

  CountedProcess target_;
};

bool names(const Report& report, const std::string& function) {
  return std::any_of(report.stacks.begin(), report.stacks.end(), [&](const ReportStack& stack) {
    return std::any_of(stack.frames.begin(), stack.frames.end(),
                       [&](const ReportFrame& frame) { return frame.function.find(function) != std::string::npos; });
  });
}

TEST_P(service, agrees_with_a_preloaded_counter) {
  serve(2);  // blocks that are older than the trace

  begin_to_serve();
  const Witnesses witnesses = trace_counted(target_, GetParam(), [&] {
    expect_served();
    serve(10);
    begin_to_serve();
  });
  expect_served();

  expect_equal(witnesses);
  EXPECT_GT(witnesses.account.allocated_count, 50'000u);
  EXPECT_GT(witnesses.account.live_count, 100u);
  EXPECT_GT(witnesses.account.unknown_frees, 100u);
  for (const char* function : {"parse_request", "Cache::put", "render", "refuse", "Arena::page", "refresh_forever"}) {
    EXPECT_TRUE(names(witnesses.report, function)) << function << " is in no stack";
  }
  serve(1);
}

INSTANTIATE_TEST_SUITE_P(, service,
                         testing::Values(Way::kPointsArena, Way::kSessionArena, Way::kSessionHash, Way::kMultiArena),
                         [](const testing::TestParamInfo<Way>& test) { return way_name(test.param); });

}  // namespace
}  // namespace hawk
