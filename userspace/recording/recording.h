#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "symbolizer/symbolizer.h"
#include "userspace/base/ids.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// The version of the format that is written, and the last one that is read (README.md).
inline constexpr std::uint32_t kRecordingVersion = 2;

/// What else an interval holds, by number. A reader passes over numbers that it does not know, so that what is added
/// here is no new version.
enum class RecordKind : std::uint64_t {
  kUsage = 1,       ///< Snapshot::usage
  kDumpCause = 2,   ///< TraceInfo::dump_cause
  kThreads = 3,     ///< new ones of TargetInfo::threads, of one target
  kCgroup = 4,      ///< TargetInfo::cgroup, of one target
  kPoints = 5,      ///< ProbedFunction::points and why there are none, of one target
  kPointCalls = 6,  ///< ProbedPoint::calls, of one target
  kMappings = 7,    ///< Snapshot::mappings
  kAges = 8,        ///< Snapshot::ages
  kPeakMost = 9,    ///< Snapshot::peak_live_bytes_most
  kLives = 10,      ///< Snapshot::lives
  kByThread = 11,   ///< Snapshot::threads
  kSumMost = 12,    ///< RecordedState::sum_most
  kAgeBits = 13,    ///< LiveAges::age_bits, after kAges
};

/// Code of a module as it is mapped into the target.
struct CodeMapping {
  ModuleId module{};
  std::uint64_t start = 0;        ///< first address
  std::uint64_t end = 0;          ///< one past the last
  std::uint64_t file_offset = 0;  ///< of `start`
  bool operator==(const CodeMapping&) const = default;
};

/// The same with its time: when it was first and last seen, in nanoseconds since the trace began.
struct RecordedMapping {
  CodeMapping code;
  std::uint64_t loaded_ns = 0;
  std::optional<std::uint64_t> unloaded_ns;  ///< nullopt: it was mapped to the end
  bool operator==(const RecordedMapping&) const = default;
};

/// What a Symbolizer says of a return address.
struct NamedAddress {
  std::optional<ModuleId> module;  ///< nullopt: in no file, and `address` is as the target has it
  std::uint64_t address = 0;       ///< what Symbolizer::frames() is asked for
  std::vector<SourceFrame> frames;
  bool operator==(const NamedAddress&) const = default;
};

/// What a Symbolizer says of a module.
struct NamedModule {
  ModuleId module{};
  SymbolSource source = SymbolSource::kNone;
  std::string gap;
  bool operator==(const NamedModule&) const = default;
};

/// An interval that was written out of turn.
struct RecordedDump {
  std::uint64_t time_ns = 0;  ///< of its end, since the trace began
  DumpCause cause = DumpCause::kNone;
  std::uint64_t live_bytes = 0;
};

/// What is known at the end of an interval. The snapshots of one recording are those of one trace, in order.
struct RecordedState {
  const Snapshot& snapshot;
  std::vector<CodeMapping> mappings = {};  ///< all, by address
  std::vector<NamedAddress> names = {};    ///< those that are new or have changed
  std::vector<NamedModule> modules = {};   ///< the same
  /// At most so many bytes were live in all traces of the recording together, at any time until now; nullopt: not
  /// known.
  std::optional<std::uint64_t> sum_most = {};
};

}  // namespace hawk
