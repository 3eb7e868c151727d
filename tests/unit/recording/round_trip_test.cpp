// What is read from a recording is what was written, to the last field: then every report of it is the same.
#include <gtest/gtest.h>

#include <vector>

#include "tests/support/scratch_directory.h"
#include "tests/unit/recording/recorded_series.h"
#include "tests/unit/report/sample_snapshots.h"
#include "userspace/export/json_report.h"
#include "userspace/export/text_report.h"
#include "userspace/recording/recording_reader.h"
#include "userspace/recording/recording_writer.h"

namespace hawk {
namespace {

/// The state of the recording at a time.
Snapshot read_at(const std::string& path, std::optional<std::uint64_t> until_ns = std::nullopt) {
  Result<RecordingReader> reader = RecordingReader::open(path);
  if (!reader) {
    ADD_FAILURE() << reader.error().what;
    return {};
  }
  const Result<void> read = reader->read(until_ns);
  EXPECT_TRUE(read) << read.error().what;
  EXPECT_EQ(reader->what_is_missing(), "");
  return reader->snapshot();
}

std::vector<Sample> all_samples() {
  std::vector<Sample> samples;
  for (auto make : {empty_sample, service_sample, unsymbolized_sample, lossy_sample, deep_sample, hostile_sample,
                    huge_sample, unwinding_sample}) {
    samples.push_back(make());
  }
  return samples;
}

TEST(RoundTrip, EverySampleAndItsReports) {
  const ScratchDirectory directory;
  for (Sample& sample : all_samples()) {
    Result<RecordingWriter> writer = RecordingWriter::create(directory.path("recording"), true);
    ASSERT_TRUE(writer) << writer.error().what;
    ASSERT_TRUE(writer->finish({.snapshot = sample.snapshot}));
    const Snapshot read = read_at(directory.path("recording"));
    EXPECT_EQ(read, sample.snapshot) << sample.snapshot.target().comm;
    EXPECT_EQ(render_text(read, sample.symbolizer, {}), render_text(sample.snapshot, sample.symbolizer, {}));
    EXPECT_EQ(render_json(read, sample.symbolizer, {}), render_json(sample.snapshot, sample.symbolizer, {}));
  }
}

TEST(RoundTrip, WhatIsKnownOfLivesIsThatOfTheInterval) {
  const ScratchDirectory directory;
  Result<RecordingWriter> writer = RecordingWriter::create(directory.path("recording"), false);
  ASSERT_TRUE(writer);
  RecordedSeries series(30, 5);
  series.advance(10);
  Snapshot first = series.snapshot();
  LiveAges& ages = first.ages.emplace(LiveAges{.now_ms = 70'000, .marks_ms = {5, 6'000}});
  for (const StackRecord& stack : first.stacks) {
    const Counters& held = stack.counters;
    if (held.live_count() < 2) continue;
    ages.blocks.push_back({.stack = stack.id, .born_ms = 1000, .bytes = held.live_bytes() / 2, .count = 1});
    ages.blocks.push_back({.stack = stack.id, .born_ms = 900'000'000'000, .bytes = 1, .count = held.live_count() - 1});
  }
  ASSERT_FALSE(ages.blocks.empty());
  ages.age_bits = 9;
  BlockHistograms lives = {.sizes = {1}, .lifetimes = {}, .temporary = 3, .freed_by_others = 5};
  lives.sizes[34] = ~0ULL;
  lives.lifetimes[32] = 7;
  first.lives.emplace().push_back({.stack = first.stacks[0].id, .target = {}, .number = 3, .count = 8});
  lives.append_to(*first.lives, first.stacks[2].id);
  first.threads = ThreadShares{
      .shares =
          {{.stack = first.stacks[1].id, .target = {}, .tid = 77, .counters = {10, 2, 5, 1}, .freed_by_others = 1}},
      .names = {{.target = {}, .tid = 77, .name = "pool"}}};
  first.peak_live_bytes_most = first.peak_live_bytes + 17;
  ASSERT_TRUE(writer->append({.snapshot = first}));
  series.advance(10);
  ASSERT_TRUE(writer->finish({.snapshot = series.snapshot()}));
  EXPECT_EQ(read_at(directory.path("recording"), first.trace.duration_ns), first);
  EXPECT_FALSE(read_at(directory.path("recording")).ages) << "those of the interval before are not this one's";
}

TEST(RoundTrip, EveryIntervalOfATrace) {
  const ScratchDirectory directory;
  Result<RecordingWriter> writer = RecordingWriter::create(directory.path("recording"), false);
  ASSERT_TRUE(writer);
  RecordedSeries series(300, 12);
  std::vector<Snapshot> written;
  for (int interval = 0; interval < 12; ++interval) {
    series.advance(interval == 3 ? 0 : 40);
    if (interval == 2) series.add_stack(77);  // between two that are there
    if (interval == 4) series.add_stack(5000);
    if (interval == 5) series.add_stack(static_cast<std::uint32_t>(kNoStack));
    if (interval == 6) series.snapshot().losses.counts[3] = 9;
    if (interval == 7) series.snapshot().memory.reset();
    if (interval == 8) series.replace_program();
    if (interval == 9) series.snapshot().children = {.without_exec = 1, .programs = {{"sh", 2}}};
    if (interval == 10) series.snapshot().unwind = {{{ModuleId{1}, "no rule", 3}}, {ModuleId{2}}, 17};
    ASSERT_TRUE(interval == 11 ? writer->finish(series.state()) : writer->append(series.state()));
    written.push_back(series.snapshot());
  }
  for (const Snapshot& snapshot : written) {
    const Snapshot read = read_at(directory.path("recording"), snapshot.trace.duration_ns);
    EXPECT_EQ(read, snapshot) << snapshot.trace.duration_ns;
  }
  EXPECT_EQ(read_at(directory.path("recording")), written.back());
  EXPECT_EQ(read_at(directory.path("recording"), written[4].trace.duration_ns + 1), written[4]);
}

/// Of a stack of the snapshot, for as many bytes.
MappedStack mapped_by(const StackRecord& stack, RegionKind kind, std::uint64_t bytes) {
  MappedStack mapped = {.stack = stack, .kind = kind, .origin = RegionOrigin::kAllocator, .counters = {bytes, 2, 5, 1}};
  mapped.stack.counters = {};
  return mapped;
}

TEST(RoundTrip, MappingsWithTheirStacks) {
  const ScratchDirectory directory;
  Result<RecordingWriter> writer = RecordingWriter::create(directory.path("recording"), false);
  ASSERT_TRUE(writer);
  RecordedSeries series(20, 4);
  std::vector<Snapshot> written;
  const auto write = [&](bool last) {
    ASSERT_TRUE(last ? writer->finish(series.state()) : writer->append(series.state()));
    written.push_back(series.snapshot());
  };
  auto& mappings = series.snapshot().mappings;
  write(false);
  mappings.emplace();
  series.advance(3);
  write(false);
  mappings->push_back(
      {.stack = {}, .kind = RegionKind::kFile, .origin = RegionOrigin::kOlder, .counters = {70, 1, 0, 1}});
  mappings->push_back(mapped_by(series.snapshot().stacks[5], RegionKind::kBrk, 100));
  series.advance(3);
  write(false);
  mappings->insert(mappings->begin() + 1, mapped_by(series.snapshot().stacks[2], RegionKind::kShm, 60));
  mappings->back().counters = {200, 4, 190, 0};
  series.advance(0);
  write(false);
  mappings->erase(mappings->begin() + 1);
  series.advance(1);
  write(false);
  series.replace_program();
  mappings->clear();
  series.advance(1);
  write(true);
  for (const Snapshot& snapshot : written) {
    EXPECT_EQ(read_at(directory.path("recording"), snapshot.trace.duration_ns), snapshot) << snapshot.trace.duration_ns;
  }
}

TEST(RoundTrip, MappingsHaveTheirTimes) {
  const ScratchDirectory directory;
  Result<RecordingWriter> writer = RecordingWriter::create(directory.path("recording"), false);
  RecordedSeries series(3, 3);
  const std::vector<CodeMapping> first = series.mappings();
  series.advance(1);
  ASSERT_TRUE(writer && writer->append(series.state()));
  const CodeMapping plugin = {ModuleId{1}, 0x600000, 0x601000, 0x2000};
  series.mappings().insert(series.mappings().begin() + 1, plugin);
  series.advance(1);
  ASSERT_TRUE(writer->append(series.state()));
  series.mappings().erase(series.mappings().begin() + 1);
  series.advance(1);
  ASSERT_TRUE(writer->finish(series.state()));
  Result<RecordingReader> reader = RecordingReader::open(directory.path("recording"));
  ASSERT_TRUE(reader && reader->read());
  constexpr std::uint64_t kSecond = 1'000'000'000;
  const std::vector<RecordedMapping> expected = {
      {first[0], kSecond, {}}, {first[1], kSecond, {}}, {plugin, 2 * kSecond, 3 * kSecond}};
  EXPECT_EQ(reader->mappings(), expected);
}

TEST(RoundTrip, NamesAreThoseThatWereWrittenLast) {
  const ScratchDirectory directory;
  Result<RecordingWriter> writer = RecordingWriter::create(directory.path("recording"), false);
  RecordedSeries series(3, 3);
  const SourceFrame inner = {.function = "inner", .file = "a.c", .line = 7, .inlined = true};
  const SourceFrame outer = {.function = "outer", .file = "a.c", .line = 9, .inlined = false};
  RecordedState state = series.state();
  state.names = {{ModuleId{1}, 0x1010, {inner, outer}}, {std::nullopt, 0x7000, {outer}}};
  state.modules = {{ModuleId{1}, SymbolSource::kDebugInfo, ""}, {ModuleId{0}, SymbolSource::kNone, "it is gone"}};
  ASSERT_TRUE(writer && writer->append(state));
  RecordedState later = series.state();
  later.names = {{std::nullopt, 0x7000, {inner}}};
  ASSERT_TRUE(writer->finish(later));
  Result<RecordingReader> reader = RecordingReader::open(directory.path("recording"));
  ASSERT_TRUE(reader && reader->read());
  RecordedNames& names = reader->names();
  EXPECT_TRUE(names.has_modules());
  EXPECT_EQ(names.frames(ModuleId{1}, 0x1010), (std::vector<SourceFrame>{inner, outer}));
  EXPECT_TRUE(names.frames(ModuleId{1}, 0x1011).empty() && names.frames(ModuleId{0}, 0x1010).empty());
  EXPECT_EQ(names.frames_in_no_file(0x7000), std::vector<SourceFrame>{inner});
  EXPECT_EQ(names.source(ModuleId{1}), SymbolSource::kDebugInfo);
  EXPECT_EQ(names.gap(ModuleId{0}), "it is gone");
}

/// An hour at one second, of 5,000 stacks 500 active, is to take less than 50 MiB: here a tenth of it.
TEST(RoundTrip, SizeGrowsWithWhatChanges) {
  const ScratchDirectory directory;
  Result<RecordingWriter> writer = RecordingWriter::create(directory.path("recording"), false);
  ASSERT_TRUE(writer);
  RecordedSeries series(5000, 30);
  ASSERT_TRUE(writer->append(series.state()));
  const std::uint64_t with_stacks = writer->size_bytes();
  for (int second = 0; second < 360; ++second) {
    series.advance(500);
    ASSERT_TRUE(writer->append(series.state()));
  }
  const std::uint64_t hour = with_stacks + (writer->size_bytes() - with_stacks) * 10;
  EXPECT_LT(hour, std::uint64_t{50} << 20);
  const std::uint64_t before = writer->size_bytes();
  series.advance(0);
  ASSERT_TRUE(writer->finish(series.state()));
  EXPECT_LT(writer->size_bytes() - before, 100U) << "an interval in which nothing is allocated";
  EXPECT_EQ(read_at(directory.path("recording")), series.snapshot());
}

}  // namespace
}  // namespace hawk
