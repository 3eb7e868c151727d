#include "userspace/recording/recording_reader.h"

#include <fmt/core.h>

#include <algorithm>
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

RecordingReader::Trace& RecordingReader::trace_of(recording::TraceNumber number) {
  std::unique_ptr<Trace>& trace = traces_[number];
  if (!trace) trace = std::make_unique<Trace>(*budget_);
  return *trace;
}

Result<void> RecordingReader::take(Trace& trace, const std::string& interval) {
  switch (trace.decoder.take(interval)) {
    case IntervalDecoder::Outcome::kTaken:
      ++trace.intervals;
      if (chosen_ == nullptr) chosen_ = &trace;
      if (const Snapshot& now = trace.decoder.snapshot(); now.trace.dump_cause != DumpCause::kNone) {
        trace.dumps.push_back({now.trace.duration_ns, now.trace.dump_cause, now.totals.live_bytes()});
      }
      return {};
    case IntervalDecoder::Outcome::kTooLarge:
      return fail(ExitCode::kFile, fmt::format("read {}: it takes more memory than a recording may", path_),
                  "--at TIME reads the part before");
    case IntervalDecoder::Outcome::kMalformed:
      break;
  }
  return fail(ExitCode::kFile, fmt::format("read {}: interval {} makes no sense", path_, trace.intervals + 1),
              trace.intervals == 0 ? "" : "--at TIME reads the part before");
}

Result<void> RecordingReader::read(std::optional<std::uint64_t> until_ns) {
  return read(until_ns, [](const Snapshot&) {});
}

Result<void> RecordingReader::read(std::optional<std::uint64_t> until_ns,
                                   const std::function<void(const Snapshot&)>& observer) {
  std::optional<std::uint64_t> first_ns;  // of those that come too late
  while (const std::optional<ChunkReader::Interval> interval = chunks_.next()) {
    const std::uint64_t time = IntervalDecoder::time_of(interval->bytes);
    Trace& trace = trace_of(interval->trace);
    trace.ended_by_time = trace.ended_by_time || (until_ns && time > *until_ns);
    if (trace.ended_by_time) {
      first_ns = std::min(first_ns.value_or(time), time);
      continue;
    }
    HAWK_TRY_VOID(take(trace, interval->bytes));
    observer(trace.decoder.snapshot());
  }
  if (chosen_ != nullptr) return {};
  if (first_ns) {
    return fail(ExitCode::kFile, fmt::format("read {}: nothing was recorded by then", path_),
                fmt::format("its first interval ends {} after the trace began", seconds(*first_ns)));
  }
  return fail(ExitCode::kFile, fmt::format("read {}: it holds no complete interval: {}", path_, what_is_missing()));
}

std::vector<TargetInfo> RecordingReader::targets() const {
  std::vector<TargetInfo> targets;
  for (const auto& [number, trace] : traces_) {
    if (trace->intervals > 0) targets.push_back(trace->decoder.snapshot().target());
  }
  return targets;
}

bool RecordingReader::choose(int pid) {
  for (const auto& [number, trace] : traces_) {
    if (trace->intervals == 0 || trace->decoder.snapshot().target().pid != pid) continue;
    chosen_ = trace.get();
    return true;
  }
  return false;
}

std::string RecordingReader::what_is_missing() const {
  if (chosen_ != nullptr && chosen_->ended_by_time) return {};
  const std::string until = chosen_ == nullptr ? std::string()
                                               : fmt::format(" behind interval {}, {} after the trace began",
                                                             intervals(), seconds(snapshot().trace.duration_ns));
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
