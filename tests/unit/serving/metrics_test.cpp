#include "userspace/serving/metrics.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/serving/fake_targets.h"
#include "userspace/serving/metrics_text.h"
#include "userspace/serving/targets_json.h"

namespace hawk {
namespace {

MetricsInput input() {
  const FakeTargets targets;
  return {.targets = targets.targets(), .host = targets.host()};
}

bool has_line(const std::string& page, const std::string& line) {
  return ("\n" + page).find("\n" + line + "\n") != std::string::npos;
}

TEST(MetricsText, QuotesWhatLabelsHold) {
  MetricsText text;
  text.begin("x", "gauge", "Help.");
  text.put({{"a", "q\"b\\s\nn\x1b\xff"}, {"b", ""}}, 18446744073709551615U);
  text.put_seconds({}, 1'000'000'001);
  EXPECT_EQ(text.take(),
            "# HELP x Help.\n# TYPE x gauge\n"
            "x{a=\"q\\\"b\\\\s\xEF\xBF\xBDn\xEF\xBF\xBD\xEF\xBF\xBD\",b=\"\"} 18446744073709551615\nx 1.000000001\n");
}

TEST(Metrics, HaveTheNumbersOfEachTarget) {
  const std::string page = metrics_page(input());
  const Counters shop = service_sample().snapshot.totals;
  EXPECT_TRUE(has_line(page, "hawktrace_live_bytes{target=\"shop\"} " + std::to_string(shop.live_bytes())));
  EXPECT_TRUE(
      has_line(page, "hawktrace_allocated_bytes_total{target=\"shop\"} " + std::to_string(shop.allocated_bytes)));
  EXPECT_TRUE(has_line(page, "hawktrace_freed_blocks_total{target=\"shop\"} " + std::to_string(shop.freed_count)));
  EXPECT_TRUE(has_line(page, "hawktrace_process_resident_bytes{target=\"shop\"} 67108864"));
  EXPECT_TRUE(has_line(page, "hawktrace_losses_total{target=\"shop\",cause=\"live_table_full\"} 0"));
  EXPECT_TRUE(has_line(page, "hawktrace_call_cost_seconds{target=\"several\"} 0.000001300"));
  EXPECT_TRUE(has_line(page, "hawktrace_overhead_ratio{target=\"several\"} 0.012500"));
  EXPECT_TRUE(has_line(page, "hawktrace_cgroup_limit_bytes{target=\"shop\"} 209715200"));
  EXPECT_TRUE(has_line(page, "hawktrace_cpu_seconds_total 1.500000000"));
  EXPECT_TRUE(has_line(page, "hawktrace_resident_bytes 31457280"));
  EXPECT_TRUE(has_line(page, "hawktrace_heap_bytes 3145728"));
}

TEST(Metrics, HaveStacksOnlyIfAskedFor) {
  EXPECT_EQ(metrics_page(input()).find("stack="), std::string::npos);
  MetricsInput with_stacks = input();
  Sample sample = service_sample();
  with_stacks.top_stacks = {{"shop", top_stacks_of(sample.snapshot, sample.symbolizer, 2)}};
  ASSERT_EQ(with_stacks.top_stacks[0].stacks.size(), 2U);
  const TopStack& first = with_stacks.top_stacks[0].stacks[0];
  EXPECT_GE(first.counters.live_bytes(), with_stacks.top_stacks[0].stacks[1].counters.live_bytes());
  EXPECT_FALSE(first.function.empty());
  EXPECT_TRUE(has_line(metrics_page(with_stacks), "hawktrace_stack_live_bytes{target=\"shop\",stack=\"" +
                                                      first.fingerprint + "\",function=\"" + first.function + "\"} " +
                                                      std::to_string(first.counters.live_bytes())));
}

TEST(TargetsJson, IsOneLineWhateverProcessesAreCalled) {
  const std::string json = targets_json(FakeTargets().targets());
  EXPECT_EQ(json.find('\n'), json.size() - 1);
  EXPECT_EQ(json.find('\x1b'), std::string::npos);
  EXPECT_NE(json.find("\"schema\":\"hawktrace.targets/1\""), std::string::npos);
  EXPECT_NE(json.find("\"overhead_ppm\":12500"), std::string::npos);
}

}  // namespace
}  // namespace hawk
