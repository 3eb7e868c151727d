#include "userspace/views/age_view.h"

#include <gtest/gtest.h>

#include <ctime>
#include <vector>

#include "tests/unit/report/sample_snapshots.h"
#include "userspace/export/json_report.h"
#include "userspace/export/text_report.h"

namespace hawk {
namespace {

/// Three stacks; the trace's clock shows 10 s, and there was a mark at 4 s.
Sample aged_sample() {
  Sample sample = empty_sample();
  const ModuleId exe = sample.add_module("/bin/tree", "");
  sample.add_stack(1, {1000, 10, 600, 6}, {sample.call(exe, {function("kept")})});
  sample.add_stack(2, {500, 5, 500, 5}, {sample.call(exe, {function("freed")})});
  sample.add_stack(3, {70, 7, 0, 0}, {sample.call(exe, {function("young")})});
  sample.snapshot.trace.interval_ns = 1'000'000'000;
  sample.snapshot.ages = LiveAges{.now_ms = 10'000,
                                  .blocks = {{.stack = StackId{1}, .born_ms = 1000, .bytes = 300, .count = 3},
                                             {.stack = StackId{1}, .born_ms = 5000, .bytes = 100, .count = 1},
                                             {.stack = StackId{3}, .born_ms = 9000, .bytes = 70, .count = 7}},
                                  .marks_ms = {4000}};
  return sample;
}

std::vector<std::pair<std::uint32_t, Counters>> stacks_of(const Snapshot& snapshot) {
  std::vector<std::pair<std::uint32_t, Counters>> stacks;
  Counters sum;
  for (const StackRecord& stack : snapshot.stacks) {
    stacks.emplace_back(static_cast<std::uint32_t>(stack.id), stack.counters);
    sum += stack.counters;
  }
  EXPECT_EQ(sum, snapshot.totals);
  return stacks;
}

using Stacks = std::vector<std::pair<std::uint32_t, Counters>>;

TEST(AgeView, KeepsTheBlocksThatAreInTheWindow) {
  const Snapshot whole = aged_sample().snapshot;
  EXPECT_EQ(stacks_of(narrowed_to_ages(whole, {.min_age_ms = 5000})), (Stacks{{1, {400, 4, 0, 0}}}));
  EXPECT_EQ(stacks_of(narrowed_to_ages(whole, {.min_age_ms = 5001})), (Stacks{{1, {300, 3, 0, 0}}}));
  EXPECT_EQ(stacks_of(narrowed_to_ages(whole, {.max_age_ms = 1000})), (Stacks{{3, {70, 7, 0, 0}}}));
  EXPECT_EQ(stacks_of(narrowed_to_ages(whole, {.generation = 0})), (Stacks{{1, {300, 3, 0, 0}}}));
  EXPECT_EQ(stacks_of(narrowed_to_ages(whole, {.generation = 1})), (Stacks{{1, {100, 1, 0, 0}}, {3, {70, 7, 0, 0}}}));
  EXPECT_EQ(stacks_of(narrowed_to_ages(whole, {.generation = 2})), Stacks{});
}

TEST(AgeView, OfSeveralProcessesEachHasItsOwn) {
  Snapshot whole = aged_sample().snapshot;
  whole.targets.resize(2);
  whole.parts.resize(2);
  whole.ages->blocks[1].target = TargetId{1};
  whole.shares = {{.stack = StackId{1}, .target = TargetId{0}, .counters = {900, 9, 600, 6}},
                  {.stack = StackId{1}, .target = TargetId{1}, .counters = {100, 1, 0, 0}}};
  const Snapshot narrowed = narrowed_to_ages(whole, {.min_age_ms = 2000});
  EXPECT_EQ(stacks_of(narrowed), (Stacks{{1, {400, 4, 0, 0}}}));
  EXPECT_EQ(narrowed.shares,
            (std::vector<StackShare>{{.stack = StackId{1}, .target = TargetId{0}, .counters = {300, 3, 0, 0}},
                                     {.stack = StackId{1}, .target = TargetId{1}, .counters = {100, 1, 0, 0}}}));
  EXPECT_EQ(narrowed.parts[0].totals, (Counters{300, 3, 0, 0}));
  EXPECT_EQ(narrowed.parts[1].totals, (Counters{100, 1, 0, 0}));
}

TEST(AgeView, TheReportSaysWhatItIsOf) {
  Sample sample = aged_sample();
  sample.snapshot = narrowed_to_ages(sample.snapshot, {.min_age_ms = 2500, .generation = 0});
  const std::string text = render_text(sample.snapshot, sample.symbolizer, {});
  EXPECT_NE(
      text.find(
          "only live blocks at least 2.5 s old and of generation 0, to 1 s: 300 B in 3 blocks of live 470 B in 11 "
          "blocks (63.8 %)"),
      std::string::npos)
      << text;
  EXPECT_EQ(text.find("  freed\n"), std::string::npos) << "a stack without such blocks is left out:\n" << text;
}

TEST(AgeView, JsonHasClassesOfAgeAndGenerations) {
  Sample sample = aged_sample();
  const std::string json = render_json(sample.snapshot, sample.symbolizer, {});
  for (
      const char* part :
      {R"("live_ages": {"clock_ms":10000,"marks_ms":[4000],"ages":[{"min_age_ms":512,"live_bytes":70,"live_count":7},)"
       R"({"min_age_ms":4096,"live_bytes":100,"live_count":1},{"min_age_ms":8192,"live_bytes":300,"live_count":3}],)"
       R"("generations":[{"generation":0,"live_bytes":300,"live_count":3},{"generation":1,"live_bytes":170,"live_count":8}]})",
       R"("ages":[{"min_age_ms":512,"live_bytes":70,"live_count":7}],"generations":[{"generation":1,"live_bytes":70,)",
       R"("ages":[],"generations":[],)"}) {
    EXPECT_NE(json.find(part), std::string::npos) << part << "\n" << json;
  }
  sample.snapshot.ages.reset();
  EXPECT_EQ(render_json(sample.snapshot, sample.symbolizer, {}).find("\"ages\""), std::string::npos);
}

Sample counted_sample() {
  Sample sample = aged_sample();
  sample.snapshot.ages.reset();
  BlockHistograms one = {.sizes = {3}, .lifetimes = {}, .temporary = 1, .freed_by_others = 2};
  one.sizes[7] = 7;
  one.lifetimes[11] = 6;
  one.append_to(sample.snapshot.lives.emplace(), StackId{1});
  sample.snapshot.lives->push_back({.stack = StackId{3}, .target = {}, .number = 34, .count = 7});
  sample.snapshot.threads = ThreadShares{
      .shares = {{.stack = StackId{1}, .target = {}, .tid = 7, .counters = {1000, 10, 600, 6}, .freed_by_others = 2}},
      .names = {{.target = {}, .tid = 7, .name = "a\"b"}}};
  return sample;
}

TEST(Histograms, JsonHasThemOfEachStackAndOfTheWhole) {
  Sample sample = counted_sample();
  const std::string json = render_json(sample.snapshot, sample.symbolizer, {});
  for (
      const char* part :
      {R"("histograms":{"sizes":[{"min_bytes":0,"count":3},{"min_bytes":64,"count":7},{"min_bytes":8589934592,"count":7}],)"
       R"("lifetimes":[{"min_ms":1024,"count":6}],"temporary":1},"freed_by_others":2,)",
       R"("histograms":{"sizes":[{"min_bytes":8589934592,"count":7}],"lifetimes":[],"temporary":0},"freed_by_others":0,)",
       R"("by_thread":[{"tid":7,"name":"a\"b","live_bytes":400,"live_count":4,"allocated_bytes":1000,"allocated_count":10,)"
       R"("freed_bytes":600,"freed_count":6,"freed_by_others":2}],)"}) {
    EXPECT_NE(json.find(part), std::string::npos) << part << "\n" << json;
  }
}

TEST(Histograms, TheReportHasThoseOfTheWhole) {
  Sample sample = counted_sample();
  const std::string text = render_text(sample.snapshot, sample.symbolizer, {});
  for (const char* part : {"sizes of allocated blocks", "64 B to below 128 B", "8.00 GiB and more",
                           "lifetimes of freed blocks", "1 block temporary", "2 blocks freed by another thread"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST(Histograms, TheReportHasALineForEachStack) {
  Sample sample = counted_sample();
  const std::string text = render_text(sample.snapshot, sample.symbolizer, {});
  for (const char* part : {"\n      sizes: 70.0 % 64 B to below 128 B; lifetimes: 100.0 % 1.0 s to below 2.0 s; "
                           "temporary: 16.7 %; freed by another thread: 2 blocks\n",
                           "\n      sizes: 100.0 % 8.00 GiB and more\n"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

}  // namespace
}  // namespace hawk
