// Recordings of several processes.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/support/scratch_directory.h"
#include "tests/unit/recording/recorded_series.h"
#include "userspace/recording/chunk_file.h"
#include "userspace/recording/recording_reader.h"
#include "userspace/recording/recording_writer.h"

namespace hawk {
namespace {

/// Two processes, whose intervals come in turn; the second ends first.
struct TwoTraces {
  RecordedSeries first{40, 6};
  RecordedSeries second{25, 4};
  std::vector<Snapshot> of_first = {};
  std::vector<Snapshot> of_second = {};

  void write(const std::string& path) {
    first.snapshot().target().pid = 100;
    second.snapshot().target().pid = 200;
    second.snapshot().losses.counts[1] = 5;
    Result<RecordingWriter> writer = RecordingWriter::create(path, true);
    ASSERT_TRUE(writer) << writer.error().what;
    for (int interval = 0; interval < 6; ++interval) {
      first.advance(7);
      of_first.push_back(first.snapshot());
      ASSERT_TRUE(interval == 5 ? writer->finish(first.state(), 0) : writer->append(first.state(), 0));
      if (interval > 3) continue;
      second.advance(5);
      if (interval == 2) second.replace_program();
      second.snapshot().target().pid = 200;
      of_second.push_back(second.snapshot());
      ASSERT_TRUE(interval == 3 ? writer->finish(second.state(), 1) : writer->append(second.state(), 1));
    }
  }
};

Result<RecordingReader> opened(const std::string& path, std::optional<std::uint64_t> until_ns = std::nullopt) {
  Result<RecordingReader> reader = RecordingReader::open(path);
  EXPECT_TRUE(reader);
  const Result<void> read = reader->read(until_ns);
  EXPECT_TRUE(read) << read.error().what;
  return reader;
}

TEST(SeveralTraces, EachIsReadAsItWasWritten) {
  const ScratchDirectory directory;
  TwoTraces traces;
  traces.write(directory.path("heap"));
  Result<RecordingReader> reader = opened(directory.path("heap"));
  ASSERT_EQ(reader->targets().size(), 2U);
  EXPECT_EQ(reader->targets()[1].last.target().pid, 200);
  EXPECT_TRUE(reader->targets()[0].has_ended && reader->targets()[1].has_ended);
  EXPECT_EQ(reader->targets()[1].last_ns, 4'000'000'000U);
  EXPECT_EQ(reader->what_is_missing(), "");
  EXPECT_EQ(reader->snapshot(), traces.of_first.back()) << "the first, if nothing is said";
  reader->choose(1);
  EXPECT_EQ(reader->snapshot(), traces.of_second.back());
  EXPECT_EQ(reader->intervals(), 4U);
  ASSERT_TRUE(reader->choose_all());
  EXPECT_EQ(reader->intervals(), 10U);
  EXPECT_EQ(reader->snapshot().targets.size(), 2U);
  EXPECT_EQ(reader->snapshot().totals.live_bytes(),
            traces.of_first.back().totals.live_bytes() + traces.of_second.back().totals.live_bytes());
  EXPECT_FALSE(reader->chosen());
  reader->choose(0);
  EXPECT_EQ(reader->intervals(), 6U);
  EXPECT_EQ(reader->snapshot(), traces.of_first.back());
}

TEST(SeveralTraces, AsOfATime) {
  const ScratchDirectory directory;
  TwoTraces traces;
  traces.write(directory.path("heap"));
  Result<RecordingReader> reader = opened(directory.path("heap"), traces.of_first[1].trace.duration_ns);
  EXPECT_EQ(reader->snapshot(), traces.of_first[1]);
  reader->choose(1);
  EXPECT_EQ(reader->snapshot(), traces.of_second[1]);
}

TEST(SeveralTraces, CutOffAnywhere) {
  const ScratchDirectory directory;
  TwoTraces traces;
  traces.write(directory.path("heap"));
  std::ifstream file(directory.path("heap"), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  std::size_t complete = 0;
  for (std::size_t size = recording::kFileHeaderBytes; size < bytes.size(); ++size) {
    std::ofstream(directory.path("cut"), std::ios::binary) << bytes.substr(0, size);
    Result<RecordingReader> reader = RecordingReader::open(directory.path("cut"));
    ASSERT_TRUE(reader);
    const Result<void> read = reader->read();
    if (!read) {
      EXPECT_NE(read.error().what.find("it is truncated"), std::string::npos) << read.error().what;
      continue;
    }
    EXPECT_NE(reader->what_is_missing().find("it is truncated after interval "), std::string::npos) << size;
    EXPECT_EQ(reader->snapshot(), traces.of_first[reader->intervals() - 1]);
    complete += reader->targets().size() == 2 ? 1 : 0;
  }
  EXPECT_GT(complete, 0U);
}

TEST(SeveralTraces, WhatHasEndedDoesNotGoOn) {
  const ScratchDirectory directory;
  RecordedSeries series(3, 3);
  series.advance(1);
  Result<RecordingWriter> writer = RecordingWriter::create(directory.path("heap"), false);
  ASSERT_TRUE(writer && writer->append(series.state(), 1) && writer->finish(series.state(), 0));
  std::ofstream(directory.path("heap"), std::ios::binary | std::ios::app)
      << recording::chunks_of(recording::IntervalEncoder().encode(series.state()), false, 0);
  Result<RecordingReader> reader = opened(directory.path("heap"));
  EXPECT_NE(reader->what_is_missing().find("it is damaged"), std::string::npos) << reader->what_is_missing();
}

TEST(SeveralTraces, TheirSumHasAnUpperBound) {
  constexpr std::uint64_t kAtFirst = 5'000'000'000'000;
  constexpr std::uint64_t kLater = 7'000'000'000'000;
  const ScratchDirectory directory;
  Result<RecordingWriter> writer = RecordingWriter::create(directory.path("heap"), false);
  ASSERT_TRUE(writer);
  RecordedSeries first(5, 2);
  RecordedSeries second(5, 2);
  const auto state_of = [](const RecordedSeries& series, std::uint64_t most) {
    RecordedState state = series.state();
    state.sum_most = most;
    return state;
  };
  ASSERT_TRUE(writer->append(state_of(first, kAtFirst), 0));
  ASSERT_TRUE(writer->append(state_of(second, kAtFirst), 1));
  const std::uint64_t then_ns = first.snapshot().trace.duration_ns;
  first.advance(1);
  second.advance(1);
  ASSERT_TRUE(writer->finish(state_of(first, kLater), 0));
  ASSERT_TRUE(writer->finish(second.state(), 1));
  Result<RecordingReader> reader = opened(directory.path("heap"));
  ASSERT_TRUE(reader->choose_all());
  EXPECT_EQ(reader->snapshot().peak_live_bytes_most, kLater);
  reader->choose(0);
  EXPECT_EQ(reader->snapshot(), first.snapshot()) << "it says nothing of a single one";
  reader = opened(directory.path("heap"), then_ns);
  ASSERT_TRUE(reader->choose_all());
  EXPECT_EQ(reader->snapshot().peak_live_bytes_most, kAtFirst);
}

/// Short-lived children, of which each is traced.
TEST(SeveralTraces, ThereMayBeVeryMany) {
  const ScratchDirectory directory;
  Result<RecordingWriter> writer = RecordingWriter::create(directory.path("heap"), false);
  ASSERT_TRUE(writer);
  RecordedSeries series(1, 2);
  for (int child = 0; child < 1000; ++child) {
    series.snapshot().target().pid = 1000 + child;
    series.snapshot().trace.start_unix_ns += 1'000'000;
    const auto trace = writer->begin_trace();
    ASSERT_TRUE(trace);
    ASSERT_TRUE(writer->finish(series.state(), *trace));
  }
  EXPECT_LT(writer->size_bytes(), 2U << 20);
  Result<RecordingReader> reader = opened(directory.path("heap"));
  ASSERT_EQ(reader->targets().size(), 1000U);
  EXPECT_EQ(reader->what_is_missing(), "");
  ASSERT_TRUE(reader->choose_all());
  EXPECT_EQ(reader->snapshot().totals.allocated_bytes, 1000 * series.snapshot().totals.allocated_bytes);
  EXPECT_EQ(reader->snapshot().stacks.size(), 1U) << "all have the same one";
}

}  // namespace
}  // namespace hawk
