// What is asked of the lives of blocks, and what the trace counts for it.
#include <gtest/gtest.h>

#include <chrono>

#include "tests/unit/commands/parsed_options.h"

namespace hawk {
namespace {

Options traced_with(Words words) {
  words.insert(words.begin(), {"-p", "1"});
  return options_of(words);
}

TEST(LivesOptions, AgesArriveInMilliseconds) {
  const Options options = traced_with({"--min-age", "1.5s", "--max-age", "1h", "--generation", "3"});
  EXPECT_EQ(options.report.ages, (AgeWindow{.min_age_ms = 1500, .max_age_ms = 3'600'000, .generation = 3}));
  EXPECT_EQ(traced_with({"--older-than", "2"}).report.ages, (AgeWindow{.min_age_ms = 2000}));
  EXPECT_EQ(traced_with({"--mark-every", "5m"}).mark_every, std::chrono::minutes(5));
}

TEST(LivesOptions, NothingIsReadOrCountedThatIsNotAskedFor) {
  const Options plain = traced_with({});
  EXPECT_FALSE(plain.trace.reads_lives || plain.trace.by_thread || plain.trace.histograms || plain.keeps_peak);
  EXPECT_TRUE(traced_with({"--generation", "0"}).trace.reads_lives);
  EXPECT_TRUE(traced_with({"--format", "json"}).trace.reads_lives) << "it has the ages";
  const Options threads = traced_with({"--by", "thread"});
  EXPECT_TRUE(threads.trace.reads_lives && threads.trace.by_thread && !threads.trace.histograms);
  const Options histograms = traced_with({"--histograms"});
  EXPECT_TRUE(histograms.trace.reads_lives && histograms.trace.histograms && !histograms.trace.by_thread);
  EXPECT_TRUE(traced_with({"--at-peak"}).keeps_peak);
}

TEST(LivesOptions, WhatIsNotKnownTogetherIsRefused) {
  EXPECT_NE(refusal_with_pid({"--at-peak", "--min-age", "1"}), "no error");
  EXPECT_NE(refusal_with_pid({"--at-peak", "--histograms"}), "no error");
  EXPECT_NE(refusal_with_pid({"--at-peak", "--by", "thread"}), "no error");
  EXPECT_NE(refusal_with_pid({"--by", "thread", "--generation", "1"}), "no error");
  EXPECT_NE(refusal_with_pid({"--min-age", "soon"}), "no error");
  EXPECT_NE(refusal_with_pid({"--generation", "-1"}), "no error");
}

}  // namespace
}  // namespace hawk
