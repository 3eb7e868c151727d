#include "userspace/recording/recording_reader.h"

#include <fmt/core.h>

#include <cerrno>
#include <utility>

#include "userspace/base/regular_file.h"
#include "userspace/base/system_failure.h"

namespace hawk {
namespace {

using recording::ChunkReader;
using recording::IntervalDecoder;

/// "12.5 s"
std::string seconds(std::uint64_t ns) { return fmt::format("{:.1f} s", static_cast<double>(ns) / 1e9); }

}  // namespace

Result<RecordingReader> RecordingReader::open(const std::string& path, std::uint64_t max_memory_bytes) {
  UniqueFd file = open_regular_file(path);
  if (file) return open(std::move(file), path, max_memory_bytes);
  if (errno == EINVAL) return fail(ExitCode::kFile, fmt::format("read {}: not a regular file", path));
  return system_failure(ExitCode::kFile, fmt::format("read {}", path), errno);
}

Result<RecordingReader> RecordingReader::open(UniqueFd file, const std::string& path, std::uint64_t max_memory_bytes) {
  RecordingReader reader(std::move(file), path, max_memory_bytes);
  const std::optional<std::uint32_t> version = reader.chunks_.version();
  if (!version) {
    return fail(ExitCode::kFile, fmt::format("read {}: not a recording of hawktrace", path),
                "hawktrace record -p PID -o FILE makes one");
  }
  if (*version == 0 || *version > kRecordingVersion) {
    return fail(ExitCode::kFile,
                fmt::format("read {}: its format has version {}, and this hawktrace reads version {}", path, *version,
                            kRecordingVersion),
                "use a newer hawktrace");
  }
  return reader;
}

Result<void> RecordingReader::take(const std::string& interval) {
  switch (decoder_.take(interval)) {
    case IntervalDecoder::Outcome::kTaken:
      ++intervals_;
      return {};
    case IntervalDecoder::Outcome::kTooLarge:
      return fail(ExitCode::kFile, fmt::format("read {}: it takes more memory than a recording may", path_),
                  "--at TIME reads the part before");
    case IntervalDecoder::Outcome::kMalformed:
      break;
  }
  return fail(ExitCode::kFile, fmt::format("read {}: interval {} makes no sense", path_, intervals_ + 1),
              intervals_ == 0 ? "" : "--at TIME reads the part before");
}

Result<void> RecordingReader::read(std::optional<std::uint64_t> until_ns) {
  return read(until_ns, [](const Snapshot&) {});
}

Result<void> RecordingReader::read(std::optional<std::uint64_t> until_ns,
                                   const std::function<void(const Snapshot&)>& observer) {
  std::uint64_t first_ns = 0;
  while (std::optional<std::string> interval = chunks_.next()) {
    const std::uint64_t time = IntervalDecoder::time_of(*interval);
    ended_by_time_ = until_ns && time > *until_ns;
    if (ended_by_time_) {
      first_ns = time;
      break;
    }
    HAWK_TRY_VOID(take(*interval));
    observer(snapshot());
  }
  if (intervals_ > 0) return {};
  if (ended_by_time_) {
    return fail(ExitCode::kFile, fmt::format("read {}: nothing was recorded by then", path_),
                fmt::format("its first interval ends {} after the trace began", seconds(first_ns)));
  }
  return fail(ExitCode::kFile, fmt::format("read {}: it holds no complete interval: {}", path_, what_is_missing()));
}

std::string RecordingReader::what_is_missing() const {
  if (ended_by_time_) return {};
  const std::string until = intervals_ == 0 ? std::string()
                                            : fmt::format(" behind interval {}, {} after the trace began", intervals_,
                                                          seconds(snapshot().trace.duration_ns));
  switch (chunks_.end()) {
    case ChunkReader::End::kEnded:
      return {};
    case ChunkReader::End::kCutOff:
      return "it is cut off" + until;
    case ChunkReader::End::kDamaged:
      return fmt::format("it is damaged{}, at byte {}", until, chunks_.complete_bytes());
    case ChunkReader::End::kTooLarge:
      return fmt::format("it is damaged{}, at byte {}: an interval would be too large", until,
                         chunks_.complete_bytes());
  }
  return {};
}

}  // namespace hawk
