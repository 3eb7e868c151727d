#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/scratch_directory.h"
#include "tests/unit/recording/recorded_series.h"
#include "tests/unit/report/golden_file.h"
#include "tests/unit/report/sample_snapshots.h"
#include "userspace/export/json_report.h"
#include "userspace/recording/recording_reader.h"
#include "userspace/recording/recording_writer.h"

namespace hawk {
namespace {

std::string error_of_opening(const std::string& path) {
  const Result<RecordingReader> reader = RecordingReader::open(path);
  return reader ? "no error" : reader.error().what;
}

TEST(RecordingFile, WhatIsThereIsNotOverwrittenUnasked) {
  const ScratchDirectory directory;
  const std::string path = directory.path("recording");
  std::ofstream(path) << "precious";
  const Result<RecordingWriter> refused = RecordingWriter::create(path, false);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().exit_code, ExitCode::kFile);
  EXPECT_EQ(refused.error().what, "create " + path + ": the file exists");
  EXPECT_TRUE(RecordingWriter::create(path, true));
  EXPECT_FALSE(RecordingWriter::create(directory.path("no/such/directory"), true));
}

TEST(RecordingFile, ALinkIsReplacedAndNotFollowed) {
  const ScratchDirectory directory;
  std::ofstream(directory.path("precious")) << "precious";
  std::filesystem::create_symlink("precious", directory.path("link"));
  EXPECT_FALSE(RecordingWriter::create(directory.path("link"), false));
  EXPECT_TRUE(RecordingWriter::create(directory.path("link"), true));
  EXPECT_EQ(std::filesystem::file_size(directory.path("precious")), 8U);
  ASSERT_EQ(::mkfifo(directory.path("fifo").c_str(), 0600), 0);
  const Result<RecordingWriter> refused = RecordingWriter::create(directory.path("fifo"), true);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().what.find("not a regular file"), std::string::npos);
}

TEST(RecordingFile, OthersAreRefused) {
  const ScratchDirectory directory;
  EXPECT_NE(error_of_opening(directory.path("none")).find("No such file"), std::string::npos);
  ASSERT_EQ(::mkfifo(directory.path("fifo").c_str(), 0600), 0);
  EXPECT_NE(error_of_opening(directory.path("fifo")).find("not a regular file"), std::string::npos);
  std::ofstream(directory.path("text")) << "a text that is longer than the header of a recording";
  EXPECT_NE(error_of_opening(directory.path("text")).find("not a recording"), std::string::npos);
  std::ofstream(directory.path("later"), std::ios::binary) << recording::file_header(kRecordingVersion + 1);
  EXPECT_NE(error_of_opening(directory.path("later")).find("version " + std::to_string(kRecordingVersion + 1)),
            std::string::npos);
}

TEST(RecordingFile, NothingWasRecordedBeforeTheFirstInterval) {
  const ScratchDirectory directory;
  RecordedSeries series(3, 3);
  series.advance(1);
  Result<RecordingWriter> writer = RecordingWriter::create(directory.path("recording"), false);
  ASSERT_TRUE(writer && writer->finish(series.state()));
  Result<RecordingReader> reader = RecordingReader::open(directory.path("recording"));
  const Result<void> read = reader->read(5);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().hint, "its first interval ends 1.0 s after the trace began");
}

TEST(RecordingFile, DumpsAreFoundWithTheirCauses) {
  const ScratchDirectory directory;
  RecordedSeries series(3, 3);
  Result<RecordingWriter> writer = RecordingWriter::create(directory.path("recording"), false);
  for (int i = 0; i < 9; ++i) {
    series.advance(1);
    ASSERT_TRUE(writer->append(series.state()));
  }
  series.advance(1);
  ASSERT_TRUE(writer->finish(series.state()));
  Result<RecordingReader> reader = RecordingReader::open(directory.path("recording"));
  ASSERT_TRUE(reader->read());
  const std::vector<RecordedDump>& dumps = reader->dumps();
  ASSERT_EQ(dumps.size(), 7U);  // seconds 1 to 5, 9 and 10
  EXPECT_EQ(dumps.front().cause, DumpCause::kSignal);
  EXPECT_EQ(dumps.front().time_ns, 1'000'000'000U);
  EXPECT_EQ(dumps[4].cause, DumpCause::kPeak);
  EXPECT_EQ(dumps.back().live_bytes, reader->snapshot().totals.live_bytes());
}

/// A file that a version of the format was written with must be readable for ever: none of these is ever written again.
/// (They were made by HAWK_WRITE_RECORDING=FILE, which writes one of the version of the day.)
void write_recording_of_the_day(const std::string& path) {
  Result<RecordingWriter> writer = RecordingWriter::create(path, true);
  Sample first = service_sample();
  ASSERT_TRUE(writer && writer->append({.snapshot = first.snapshot}));
  RecordedSeries other(3, 3);
  other.advance(2);
  ASSERT_TRUE(writer->append(other.state(), 1));
  Sample last = later_service_sample();
  last.snapshot.losses.counts[2] = 3;
  last.snapshot.usage = TracingUsage{3'000'000, 50 << 20, 4096, 700'000'000};
  last.snapshot.trace.dump_cause = DumpCause::kPeak;
  last.snapshot.target().threads = {{0, 4242, "service"}, {1'000'000, 4243, "worker"}, {2'000'000, 4243, {}}};
  RecordedState state = {.snapshot = last.snapshot, .mappings = {{ModuleId{0}, 0x1000, 0x2000, 0}}};
  state.names = {{ModuleId{0}, 0x1200, {{"recorded_name", "recorded.c", 12, false}}}};
  state.modules = {{ModuleId{0}, SymbolSource::kDebugInfo, ""}};
  ASSERT_TRUE(writer->finish(state));
  ASSERT_TRUE(writer->finish(other.state(), 1));
}

void expect_golden_recording(const std::string& name, std::size_t targets) {
  Result<RecordingReader> reader = RecordingReader::open(std::string(HAWK_GOLDEN_DIR) + "/" + name + ".hawk");
  ASSERT_TRUE(reader) << reader.error().what;
  const Result<void> read = reader->read();
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(reader->what_is_missing(), "");
  EXPECT_EQ(reader->targets().size(), targets);
  EXPECT_EQ(reader->intervals(), 2U);
  EXPECT_EQ(reader->mappings().size(), 1U);
  EXPECT_EQ(reader->writer(), "0.1.0");
  JsonOptions options;
  options.hawktrace_version = "0.0.0";
  expect_golden(name + ".json", render_json(reader->snapshot(), reader->names(), options));
}

TEST(RecordingFile, GoldenFileOfVersion1) { expect_golden_recording("recording_v1", 1); }

TEST(RecordingFile, GoldenFileOfVersion2) {
  if (const char* path = std::getenv("HAWK_WRITE_RECORDING")) write_recording_of_the_day(path);
  expect_golden_recording("recording_v2", 2);
}

}  // namespace
}  // namespace hawk
