#include "userspace/report/live_view.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/report/sample_snapshots.h"
#include "userspace/report/display_text.h"

namespace hawk {
namespace {

LiveOptions sample_options() {
  LiveOptions options;
  options.rows = 24;
  options.columns = 120;
  options.selection.top = 0;
  options.role_of = sample_role_of;
  return options;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> lines(1);
  for (const char character : text) {
    if (character == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += character;
    }
  }
  return lines;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(LiveView, FillsExactlyTheScreen) {
  Sample before = service_sample();
  for (Sample (*make)() : {empty_sample, later_service_sample, unsymbolized_sample, lossy_sample, deep_sample,
                           hostile_sample, huge_sample, unwinding_sample}) {
    Sample sample = make();
    for (const std::size_t rows : {1, 2, 5, 11, 24}) {
      for (const std::size_t columns : {1, 20, 60, 132}) {
        for (int flags = 0; flags < 8; ++flags) {
          LiveOptions options = sample_options();
          options.rows = rows;
          options.columns = columns;
          options.help = (flags & 1) != 0;
          options.raw_bytes = (flags & 2) != 0;
          const Snapshot* previous = (flags & 4) != 0 ? &before.snapshot : nullptr;
          const std::string screen = render_live(sample.snapshot, previous, sample.symbolizer, options);
          const std::vector<std::string> lines = split(screen);
          ASSERT_EQ(lines.size(), rows);
          for (const std::string& line : lines) {
            ASSERT_LE(display_width(line), columns) << line;
            ASSERT_EQ(printable(line), line);
          }
        }
      }
    }
  }
}

TEST(LiveView, NoTerminalNoText) {
  Sample sample = service_sample();
  LiveOptions options = sample_options();
  options.rows = 0;
  EXPECT_EQ(render_live(sample.snapshot, nullptr, sample.symbolizer, options), "");
  options.rows = 5;
  options.columns = 0;
  EXPECT_EQ(render_live(sample.snapshot, nullptr, sample.symbolizer, options), "");
}

TEST(LiveView, EndsWithTheKeys) {
  Sample sample = service_sample();
  LiveOptions options = sample_options();
  options.selection.sort = SortKey::kAllocatedCount;
  EXPECT_TRUE(render_live(sample.snapshot, nullptr, sample.symbolizer, options)
                  .ends_with("\nq quit  s sort (allocated-count)  p pause  b bytes  ? help"));
  options.paused = true;
  const std::string paused = render_live(sample.snapshot, nullptr, sample.symbolizer, options);
  EXPECT_TRUE(contains(paused, "PAUSED"));
  EXPECT_TRUE(contains(paused, "p resume"));
}

TEST(LiveView, ChangesAndRatesAreThoseSinceThePreviousSnapshot) {
  Sample before = service_sample();
  Sample now = later_service_sample();
  LiveOptions options = sample_options();
  options.raw_bytes = true;
  const std::string screen = render_live(now.snapshot, &before.snapshot, now.symbolizer, options);
  // 250 blocks of 1280 bytes in 2 seconds, and a new stack of 65536 bytes.
  EXPECT_TRUE(contains(screen, "+320000 B       1250     160000 B")) << screen;
  EXPECT_TRUE(contains(screen, "+65536 B          1      32768 B")) << screen;
  EXPECT_TRUE(contains(screen, "in 1273 blocks  +192768 B/s")) << screen;
}

TEST(LiveView, StacksThatAreNotCompleteAreToldWhereTheyFit) {
  Sample sample = unwinding_sample();
  LiveOptions options = sample_options();
  options.interval_ns = 1'000'000'000;
  const auto header = [&](std::size_t columns) {
    options.columns = columns;
    return split(render_live(sample.snapshot, nullptr, sample.symbolizer, options))[0];
  };
  EXPECT_TRUE(header(120).ends_with("7 stacks (23.0 % guessed, 6.1 % truncated)  every 1.0 s")) << header(120);
  EXPECT_TRUE(header(80).ends_with("7 stacks (23.0 % guessed, 6.1 % truncated)")) << header(80);
  EXPECT_TRUE(header(70).ends_with("7 stacks  every 1.0 s")) << header(70);
}

TEST(LiveView, NothingIsComparedAcrossAnExec) {
  Sample before = service_sample();
  Sample now = later_service_sample();
  now.snapshot.trace.exec_count = 1;
  EXPECT_EQ(render_live(now.snapshot, &before.snapshot, now.symbolizer, sample_options()),
            render_live(now.snapshot, nullptr, now.symbolizer, sample_options()));
}

TEST(LiveView, ShrinkingIsNegative) {
  Sample before = later_service_sample();
  Sample now = service_sample();
  now.snapshot.trace.duration_ns = before.snapshot.trace.duration_ns + 1'000'000'000;
  LiveOptions options = sample_options();
  options.raw_bytes = true;
  EXPECT_TRUE(contains(render_live(now.snapshot, &before.snapshot, now.symbolizer, options), "-320000 B"));
}

TEST(LiveView, StacksWithNothingLiveAppearWhenSortedByAllocated) {
  Sample sample = service_sample();
  LiveOptions options = sample_options();
  EXPECT_FALSE(contains(render_live(sample.snapshot, nullptr, sample.symbolizer, options), "read_configuration"));
  options.selection.sort = SortKey::kAllocated;
  const std::string screen = render_live(sample.snapshot, nullptr, sample.symbolizer, options);
  EXPECT_TRUE(contains(screen, "read_configuration"));
  EXPECT_TRUE(contains(screen, "ALLOCATED▼"));
  EXPECT_FALSE(contains(screen, "LIVE▼"));
}

TEST(LiveView, OnlyStacksOnTheScreenAreSymbolized) {
  Sample sample = service_sample();
  LiveOptions options = sample_options();
  options.rows = 5;  // header, totals, titles, one stack, keys
  const std::string screen = render_live(sample.snapshot, nullptr, sample.symbolizer, options);
  EXPECT_TRUE(contains(screen, "shop::SessionTable::open session.cpp:58 < shop::Router::route")) << screen;
  EXPECT_EQ(sample.symbolizer.lookups(), 5U);
}

TEST(LiveView, TopLimitsTheListFurther) {
  Sample sample = service_sample();
  LiveOptions options = sample_options();
  options.selection.top = 2;
  const std::string screen = render_live(sample.snapshot, nullptr, sample.symbolizer, options);
  EXPECT_FALSE(contains(screen, "parse_header"));
  EXPECT_TRUE(contains(screen, "… 1 more stack\n"));
}

TEST(LiveView, NarrowTerminalsKeepTheSortedColumnAndTheFunction) {
  Sample sample = service_sample();
  LiveOptions options = sample_options();
  options.columns = 48;
  options.selection.sort = SortKey::kFreedCount;
  const std::string screen = render_live(sample.snapshot, nullptr, sample.symbolizer, options);
  EXPECT_TRUE(contains(screen, "FREES▼"));
  EXPECT_FALSE(contains(screen, "ALLOC/s"));
  EXPECT_TRUE(contains(screen, "parse_header"));
}

}  // namespace
}  // namespace hawk
