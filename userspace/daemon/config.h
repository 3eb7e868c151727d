#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "userspace/selection/process_query.h"
#include "userspace/serving/serving_options.h"
#include "userspace/tracer/link_scope.h"

namespace hawk {

/// What is done with the processes of a target.
enum class TargetMode {
  kExact,  ///< they are traced as long as they run
  kWatch,  ///< their memory is sampled; they are traced for a while when it calls for that
  kOff,    ///< nothing
};
/// "exact", "watch", "off".
std::string_view target_mode_name(TargetMode mode);

/// When the processes of a target in the mode kWatch are traced.
struct WatchRules {
  std::chrono::nanoseconds every = std::chrono::seconds(10);          ///< between samples
  std::chrono::nanoseconds time_to_limit = std::chrono::minutes(30);  ///< traced if the limit is closer than that
  std::uint64_t min_growth_bytes = std::uint64_t{64} << 20;  ///< growth, while sampled, that is taken for one at all
  std::optional<std::uint64_t> high_water_bytes = {};  ///< traced above that; again when 10 % more than the last time
  std::optional<double> pressure_percent = {};  ///< traced while that share of time is lost to waiting for memory
  std::chrono::nanoseconds window = std::chrono::minutes(5);  ///< for how long
};

/// What is written of a target, and for how long it is kept.
struct RecordingRules {
  bool enabled = true;
  std::chrono::nanoseconds every = std::chrono::minutes(1);  ///< between intervals in the file
  std::uint64_t file_bytes = std::uint64_t{32} << 20;        ///< a new file is begun after so many
  std::chrono::nanoseconds file_age = std::chrono::hours(24);
  std::uint64_t keep_bytes = std::uint64_t{256} << 20;  ///< of all files; the oldest is removed first
  std::chrono::nanoseconds keep_age = std::chrono::hours(168);
  std::optional<std::uint64_t> dump_allocated_bytes = {};  ///< see DumpTriggers
  std::optional<std::uint64_t> dump_growth_bytes = {};
  bool dump_peak = false;
  bool ages = false;        ///< when live blocks were allocated, at the ends of files and of processes, and at dumps
  bool histograms = false;  ///< the same of the sizes and lifetimes of blocks

  bool wants_lives() const { return enabled && (ages || histograms); }
};

/// Some processes that belong together.
struct TargetConfig {
  std::string name;
  ProcessQuery processes = {};  ///< without `pids`
  std::string pid_file = {};    ///< ... or the process whose number is in this file
  TargetMode mode = TargetMode::kExact;
  bool follows_children = false;                                      ///< processes that they start are traced as well
  std::uint32_t max_processes = 256;                                  ///< traced at a time
  std::optional<double> max_overhead = {};                            ///< percent of one processor
  std::chrono::nanoseconds overhead_retry = std::chrono::minutes(1);  ///< when tracing is tried again at first
  WatchRules watch = {};
  RecordingRules recording = {};
};

/// The configuration of the daemon.
struct DaemonConfig {
  std::chrono::nanoseconds interval = std::chrono::seconds(1);  ///< between drains
  std::string directory = "/var/lib/hawktrace";                 ///< for recordings, one directory for each target
  std::string oomd_hook = "/run/systemd/oomd.prekill.hook/hawktrace";  ///< see OomHook
  std::optional<double> max_overhead = {};                             ///< of all targets, percent of one processor
  std::optional<std::uint64_t> max_memory_bytes = {};                  ///< of the kernel's tables
  std::optional<std::uint32_t> max_blocks = {};
  std::uint32_t max_stacks = 1U << 17;
  std::optional<LinkScope> links = {};
  std::vector<TargetConfig> targets;  ///< in the order of their names
  ServingOptions serve;
};

}  // namespace hawk
