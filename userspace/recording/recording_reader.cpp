#include "userspace/recording/recording_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "userspace/base/regular_file.h"
#include "userspace/base/sum_up_to_most.h"
#include "userspace/base/system_failure.h"
#include "userspace/tables/merged_snapshot.h"

namespace hawk {
namespace {

using recording::ChunkReader;
using recording::IntervalDecoder;

/// "12.5 s"
std::string seconds(std::uint64_t ns) { return fmt::format("{:.1f} s", static_cast<double>(ns) / 1e9); }

/// How much later than `first` a time is; not at all, if it is before it.
std::uint64_t later_than(std::uint64_t first, std::uint64_t time) { return time > first ? time - first : 0; }

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

Error RecordingReader::malformed(const Trace& trace) const {
  return {ExitCode::kFile, fmt::format("read {}: interval {} is invalid", path_, trace.intervals + 1),
          trace.intervals == 0 ? "" : "--at TIME reads the part before"};
}

Result<void> RecordingReader::decode(Trace& trace, const std::string& interval) {
  switch (trace.decoder.take(interval)) {
    case IntervalDecoder::Outcome::kTaken:
      return {};
    case IntervalDecoder::Outcome::kTooLarge:
      return fail(ExitCode::kFile, fmt::format("read {}: it needs more memory than the limit for a recording", path_),
                  "--at TIME reads the part before");
    case IntervalDecoder::Outcome::kMalformed:
      break;
  }
  return tl::unexpected<Error>(malformed(trace));
}

/// When a trace began is known once its first interval has been decoded.
Result<void> RecordingReader::take(const ChunkReader::Interval& interval, std::optional<std::uint64_t> until_ns,
                                   const Observer& observer) {
  std::unique_ptr<Trace>& trace = traces_[interval.trace];
  if (!trace) trace = std::make_unique<Trace>(*budget_);
  if (trace->ended_by_time) return {};
  const std::uint64_t duration_ns = IntervalDecoder::time_of(interval.bytes);
  const auto is_too_late = [&] {
    const std::uint64_t time_ns = sum_up_to_most(trace->began_ns, duration_ns);
    trace->ended_by_time = until_ns && time_ns > *until_ns;
    if (trace->ended_by_time) too_late_ns_ = std::min(too_late_ns_.value_or(time_ns), time_ns);
    return trace->ended_by_time;
  };
  // Of the first trace it is clear.
  if ((trace->intervals > 0 || order_.empty()) && is_too_late()) return {};
  const std::uint64_t live_before = trace->intervals > 0 ? trace->decoder.snapshot().totals.live_bytes() : 0;
  HAWK_TRY_VOID(decode(*trace, interval.bytes));
  const Snapshot& now = trace->decoder.snapshot();
  if (trace->intervals == 0) {
    if (order_.empty()) start_unix_ns_ = now.trace.start_unix_ns;
    trace->began_ns = later_than(start_unix_ns_, now.trace.start_unix_ns);
    if (is_too_late()) return {};
    order_.push_back(interval.trace);
  }
  ++trace->intervals;
  trace->has_ended = interval.is_last;
  // Before all traces have had their interval of a drain, the sum is of no instant.
  if (!round_.insert(interval.trace).second) {
    peak_live_bytes_ = std::max(peak_live_bytes_, live_bytes_);
    round_ = {interval.trace};
  }
  live_bytes_ = sum_up_to_most(live_bytes_ - live_before, now.totals.live_bytes());
  if (const auto most = trace->decoder.sum_most()) sum_most_ = std::max(sum_most_.value_or(0), *most);
  if (chosen_ == nullptr) chosen_ = trace.get();
  if (now.trace.dump_cause != DumpCause::kNone) {
    trace->dumps.push_back({now.trace.duration_ns, now.trace.dump_cause, now.totals.live_bytes()});
  }
  if (observer) observer(interval.trace, now);
  return {};
}

Result<void> RecordingReader::read(std::optional<std::uint64_t> until_ns, const Observer& observer) {
  while (const std::optional<ChunkReader::Interval> interval = chunks_.next()) {
    HAWK_TRY_VOID(take(*interval, until_ns, observer));
  }
  if (chosen_ != nullptr) return {};
  if (too_late_ns_) {
    return fail(ExitCode::kFile, fmt::format("read {}: nothing was recorded by then", path_),
                fmt::format("its first interval ends {} after the trace began", seconds(*too_late_ns_)));
  }
  return fail(ExitCode::kFile, fmt::format("read {}: it holds no complete interval: {}", path_, what_is_missing()));
}

std::vector<RecordingReader::Target> RecordingReader::targets() const {
  std::vector<Target> targets;
  for (const recording::TraceNumber number : order_) {
    const Trace& trace = *traces_.at(number);
    const Snapshot& last = trace.decoder.snapshot();
    targets.push_back({.trace = number,
                       .last = last,
                       .began_ns = trace.began_ns,
                       .last_ns = sum_up_to_most(trace.began_ns, last.trace.duration_ns),
                       .has_ended = trace.has_ended});
  }
  return targets;
}

std::optional<recording::TraceNumber> RecordingReader::chosen() const {
  if (all_) return std::nullopt;
  for (const auto& [number, trace] : traces_) {
    if (trace.get() == chosen_) return number;
  }
  return std::nullopt;
}

void RecordingReader::choose(recording::TraceNumber trace) {
  chosen_ = traces_.at(trace).get();
  all_.reset();
}

Result<void> RecordingReader::choose_all() {
  All all;
  std::vector<const Snapshot*> parts;
  for (const recording::TraceNumber number : order_) parts.push_back(&traces_.at(number)->decoder.snapshot());
  SnapshotMerger merger;
  std::optional<Snapshot> merged = merger.merge(parts, std::max(peak_live_bytes_, live_bytes_), sum_most_);
  if (!merged) {
    return fail(ExitCode::kFile, fmt::format("read {}: the sums over its processes are too large", path_),
                "--target shows one of them");
  }
  for (std::size_t part = 0; part < order_.size(); ++part) {
    Trace& trace = *traces_.at(order_[part]);
    all.names.add(trace.decoder.names(), merger.modules()[part], parts[part]->locations);
    all.intervals += trace.intervals;
    for (RecordedDump dump : trace.dumps) {
      dump.time_ns = sum_up_to_most(dump.time_ns, trace.began_ns);
      all.dumps.push_back(dump);
    }
  }
  std::stable_sort(all.dumps.begin(), all.dumps.end(),
                   [](const RecordedDump& a, const RecordedDump& b) { return a.time_ns < b.time_ns; });
  all.snapshot = std::move(*merged);
  all_.emplace(std::move(all));
  return {};
}

const Snapshot& RecordingReader::snapshot() const { return all_ ? all_->snapshot : chosen_->decoder.snapshot(); }
RecordedNames& RecordingReader::names() { return all_ ? all_->names : chosen_->decoder.names(); }
const std::vector<RecordedDump>& RecordingReader::dumps() const { return all_ ? all_->dumps : chosen_->dumps; }

std::uint64_t RecordingReader::intervals() const {
  if (all_) return all_->intervals;
  return chosen_ == nullptr ? 0 : chosen_->intervals;
}

std::string RecordingReader::what_is_missing() const {
  if (chosen_ != nullptr && chosen_->ended_by_time) return {};
  const std::string until = chosen_ == nullptr ? std::string()
                                               : fmt::format(" after interval {}, {} after the trace began",
                                                             intervals(), seconds(snapshot().trace.duration_ns));
  switch (chunks_.end()) {
    case ChunkReader::End::kEnded:
      return {};
    case ChunkReader::End::kCutOff:
      return "it is truncated" + until;
    case ChunkReader::End::kDamaged:
      return fmt::format("it is damaged{}, at byte {}", until, chunks_.complete_bytes());
    case ChunkReader::End::kTooLarge:
      return fmt::format("it is damaged{}, at byte {}: an interval would be too large", until,
                         chunks_.complete_bytes());
  }
  return {};
}

}  // namespace hawk
