// A recording that a SIGKILL, a full disk or a power cut has ended anywhere, and one that was damaged since.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/scratch_directory.h"
#include "tests/unit/recording/recorded_series.h"
#include "userspace/base/write_all.h"
#include "userspace/recording/recording_reader.h"
#include "userspace/recording/recording_writer.h"

namespace hawk {
namespace {

struct Written {
  std::string bytes;
  std::vector<std::size_t> ends;  ///< of the header and of each interval
  std::vector<Snapshot> snapshots;
};

Written small_recording() {
  Written written;
  const ScratchDirectory directory;
  const std::string path = directory.path("recording");
  Result<RecordingWriter> writer = RecordingWriter::create(path, false);
  written.ends.push_back(writer->size_bytes());
  RecordedSeries series(6, 4);
  for (int interval = 0; interval < 4; ++interval) {
    series.advance(2);
    EXPECT_TRUE(interval == 3 ? writer->finish(series.state()) : writer->append(series.state()));
    written.ends.push_back(writer->size_bytes());
    written.snapshots.push_back(series.snapshot());
  }
  std::ifstream file(path, std::ios::binary);
  written.bytes.assign(std::istreambuf_iterator<char>(file), {});
  return written;
}

Result<RecordingReader> open_bytes(const std::string& bytes, std::uint64_t memory = RecordingReader::kMaxMemoryBytes) {
  UniqueFd file(::memfd_create("recording", MFD_CLOEXEC));
  EXPECT_EQ(write_all(file.get(), bytes), 0);
  return RecordingReader::open(std::move(file), "recording", memory);
}

TEST(RecordingCut, AtEveryByteIsReadUpToTheLastCompleteInterval) {
  const Written written = small_recording();
  for (std::size_t size = 0; size < written.bytes.size(); ++size) {
    SCOPED_TRACE(size);
    Result<RecordingReader> reader = open_bytes(written.bytes.substr(0, size));
    if (size < written.ends[0]) {
      ASSERT_FALSE(reader);
      EXPECT_NE(reader.error().what.find("not a recording"), std::string::npos);
      continue;
    }
    ASSERT_TRUE(reader);
    std::size_t complete = 0;
    while (complete < written.snapshots.size() && written.ends[complete + 1] <= size) ++complete;
    const Result<void> read = reader->read();
    if (complete == 0) {
      ASSERT_FALSE(read);
      EXPECT_NE(read.error().what.find("no complete interval: it is truncated"), std::string::npos)
          << read.error().what;
      continue;
    }
    ASSERT_TRUE(read) << read.error().what;
    EXPECT_EQ(reader->snapshot(), written.snapshots[complete - 1]);
    EXPECT_EQ(reader->intervals(), complete);
    EXPECT_EQ(reader->what_is_missing(), "it is truncated after interval " + std::to_string(complete) + ", " +
                                             std::to_string(complete) + ".0 s after the trace began");
  }
}

/// Whatever one byte becomes: the state of an interval that was written, or an error, and never another state.
TEST(RecordingCut, DamageIsNoticed) {
  const Written written = small_recording();
  for (std::size_t at = 0; at < written.bytes.size(); ++at) {
    SCOPED_TRACE(at);
    std::string bytes = written.bytes;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
    Result<RecordingReader> reader = open_bytes(bytes);
    if (!reader || !reader->read()) continue;
    const bool is_reserved = at >= written.ends[0] - 4 && at < written.ends[0];
    EXPECT_EQ(reader->what_is_missing().empty(), is_reserved);
    ASSERT_GE(reader->intervals(), 1U);
    EXPECT_EQ(reader->snapshot(), written.snapshots[reader->intervals() - 1]);
  }
}

TEST(RecordingCut, BytesBehindTheEndChangeNothing) {
  const Written written = small_recording();
  Result<RecordingReader> reader = open_bytes(written.bytes + "something else");
  ASSERT_TRUE(reader && reader->read());
  EXPECT_EQ(reader->what_is_missing(), "");
  EXPECT_EQ(reader->snapshot(), written.snapshots.back());
}

TEST(RecordingCut, MemoryHasALimit) {
  const Written written = small_recording();
  Result<RecordingReader> reader = open_bytes(written.bytes, 1000);
  ASSERT_TRUE(reader);
  const Result<void> read = reader->read();
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().what.find("more memory"), std::string::npos) << read.error().what;
}

}  // namespace
}  // namespace hawk
