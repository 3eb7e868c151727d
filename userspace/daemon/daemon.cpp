#include "userspace/daemon/daemon.h"

#include <fmt/core.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "userspace/attach/environment.h"
#include "userspace/base/event_loop.h"
#include "userspace/base/log.h"
#include "userspace/base/open_file_limit.h"
#include "userspace/base/own_heap.h"
#include "userspace/base/signal_source.h"
#include "userspace/base/system_failure.h"
#include "userspace/daemon/config_file.h"
#include "userspace/daemon/memory_sampler.h"
#include "userspace/daemon/memory_sampling.h"
#include "userspace/daemon/process_finder.h"
#include "userspace/daemon/served_state.h"
#include "userspace/daemon/service_manager.h"
#include "userspace/daemon/target_tracing.h"
#include "userspace/report/units.h"
#include "userspace/serving/oom_hook.h"
#include "userspace/serving/serving.h"

namespace hawk {
namespace {

using Time = std::chrono::steady_clock::time_point;

Time now() { return std::chrono::steady_clock::now(); }

Result<DaemonConfig> load_config(const DaemonOptions& options) {
  std::vector<ConfigText> files;
  if (!options.config_path.empty()) files = HAWK_TRY(read_config(options.config_path));
  DaemonConfig config = HAWK_TRY(parse_config(files));
  if (options.unit.empty()) return config;
  // Those that the configuration gives it stay.
  const auto known = std::find_if(config.targets.begin(), config.targets.end(),
                                  [&](const TargetConfig& target) { return target.name == options.unit; });
  TargetConfig only;
  if (known != config.targets.end()) only = *known;
  only.name = options.unit;
  only.processes = {.units = {options.unit}};
  only.pid_file.clear();
  config.targets = {std::move(only)};
  config.serve.listen.clear();
  config.oomd_hook += "@" + options.unit;
  return config;
}

/// What cannot change while the programs are loaded.
bool needs_restart(const DaemonConfig& a, const DaemonConfig& b) {
  const auto follows = [](const DaemonConfig& config) {
    return std::any_of(config.targets.begin(), config.targets.end(),
                       [](const TargetConfig& target) { return target.follows_children; });
  };
  return a.interval != b.interval || a.directory != b.directory || a.max_blocks != b.max_blocks ||
         a.oomd_hook != b.oomd_hook || a.max_stacks != b.max_stacks || a.max_memory_bytes != b.max_memory_bytes ||
         a.links != b.links || follows(a) != follows(b);
}

/// Others must not lead us elsewhere from there, nor read what we write.
Result<void> make_own_directory(const std::string& path) {
  constexpr const char* kHint = "change directory in [daemon]";
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return system_failure(ExitCode::kFile, fmt::format("create {}", path), errno, kHint);
  }
  struct stat entry = {};
  struct stat directory = {};
  if (::lstat(path.c_str(), &entry) != 0 || ::stat(path.c_str(), &directory) != 0) {
    return system_failure(ExitCode::kFile, fmt::format("look at {}", path), errno, kHint);
  }
  const bool is_own = entry.st_uid == ::geteuid() && directory.st_uid == ::geteuid();
  if (is_own && S_ISDIR(directory.st_mode) && (directory.st_mode & (S_IWGRP | S_IWOTH)) == 0) return {};
  return fail(ExitCode::kFile, fmt::format("write to {}: it is not a directory of ours alone", path),
              "chown root and chmod 700 it, or change directory in [daemon]");
}

/// For what can be done without.
void warn(const Error& error) { log_warning(fmt::format("{}; {}", error.what, error.hint)); }

class Daemon {
 public:
  Daemon(const DaemonOptions& options, DaemonConfig config, SignalSource signals, ServiceManager manager)
      : options_(options),
        config_(std::move(config)),
        signals_(std::move(signals)),
        manager_(std::move(manager)),
        tracing_(loop_, targets_, EndReporter(Journal::of_stderr())),
        finder_(loop_, targets_),
        state_(targets_, tracing_, options.config_path) {}
  ~Daemon() {
    for (const auto& [name, target] : targets_) {
      for (const auto& [pid, process] : target->processes) forget_end(loop_, process);
    }
  }
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  Result<int> run() {
    take_targets();
    finder_.look(now());
    if (has_exact()) HAWK_TRY_VOID(tracing_.load(config_));
    if (!config_.serve.listen.empty()) serving_ = HAWK_TRY(Serving::make(loop_, config_.serve, state_));
    if (const Result<void> watched = tracing_.watch_oom_kills(); !watched) warn(watched.error());
    offer_oom_hook();
    loop_.watch(signals_.fd(), [this](short) { return take_signals(); });
    HAWK_TRY_VOID(watch_time());
    tracing_.update_traces(now());
    manager_.ready(status());
    log_info(fmt::format("{} target{}; SIGHUP reads the configuration again", targets_.size(),
                         targets_.size() == 1 ? "" : "s"));
    HAWK_TRY_VOID(loop_.run());
    manager_.notify("STOPPING=1");
    serving_.reset();
    oom_hook_.reset();
    for (const auto& [name, target] : targets_) retire(*target);
    return static_cast<int>(ExitCode::kOk);
  }

 private:
  bool has_exact() const {
    return std::any_of(config_.targets.begin(), config_.targets.end(),
                       [](const TargetConfig& target) { return target.mode == TargetMode::kExact; });
  }

  /// Where no systemd-oomd would ask there is no such directory.
  void offer_oom_hook() {
    const std::string& path = config_.oomd_hook;
    if (::access(path.substr(0, path.rfind('/')).c_str(), F_OK) != 0) return;
    auto hook =
        OomHook::listen(loop_, path, [this](const std::string& cgroup) { tracing_.record_before_kill(cgroup); });
    if (hook) {
      oom_hook_ = std::move(*hook);
    } else {
      warn(hook.error());
    }
  }

  Result<void> watch_time() {
    constexpr std::chrono::milliseconds kSoon{100};
    HAWK_TRY_VOID(loop_.add_timer(kSoon, kSoon, [this](short) -> Result<void> {
      look();
      return {};
    }));
    HAWK_TRY_VOID(loop_.add_timer(config_.interval, config_.interval, [this](short) -> Result<void> {
      take_interval();
      return {};
    }));
    if (!manager_.watchdog() || *manager_.watchdog() / 2 > config_.interval) return {};
    const auto often = *manager_.watchdog() / 4;
    HAWK_TRY_VOID(loop_.add_timer(often, often, [this](short) -> Result<void> {
      tracing_.drain_now();
      manager_.feed_watchdog(now());
      return {};
    }));
    return {};
  }

  void look() {
    finder_.look_if_due(tracing_.processes_begun(), now());
    tracing_.update_traces(now());
  }

  void take_interval() {
    const Time began = now();
    tracing_.drain(began);
    for (const auto& [name, target] : targets_) {
      if (target->window_ends && began >= *target->window_ends) end_window(*target);
      if (const auto finding = sample_if_due(*target, began)) begin_window(*target, *finding);
    }
    tracing_.update_traces(began);
    tracing_.unload_if_idle(began);
    give_back_memory(began);
    manager_.feed_watchdog(now());
    if (std::string text = status(); text != sent_status_) {
      manager_.notify("STATUS=" + text);
      sent_status_ = std::move(text);
    }
  }

  /// What malloc keeps of a time when more was traced, or of a profile that was written.
  void give_back_memory(Time now) {
    constexpr std::chrono::seconds kOften{5};
    constexpr std::uint64_t kMayBeKept = std::uint64_t{4} << 20;
    if (now - looked_at_memory_ < kOften) return;
    looked_at_memory_ = now;
    const std::optional<ProcessMemory> own = read_process_memory(::getpid());
    if (own && own->anonymous_bytes > own_heap_bytes() + kMayBeKept) trim_own_heap();
  }

  void begin_window(TargetState& target, const WatchFinding& finding) {
    const Result<void> loaded = tracing_.load(config_);
    if (!loaded) {
      log_warning(
          fmt::format("{}: {}; it cannot be traced: {}", target.config.name, finding.text, loaded.error().what));
      return;
    }
    target.window_ends = now() + target.config.watch.window;
    log_info(fmt::format("{}: {}; it is traced for {}", target.config.name, finding.text,
                         format_duration(static_cast<std::uint64_t>(target.config.watch.window.count()))));
  }

  void end_window(TargetState& target) {
    target.window_ends.reset();
    tracing_.detach(target);
    target.recorder.end_file();
    log_info(fmt::format(
        "{}: the trace has ended, {}", target.config.name,
        target.recorder.last_path().empty() ? "unrecorded" : fmt::format("see {}", target.recorder.last_path())));
  }

  std::string status() const {
    std::size_t processes = 0;
    std::size_t traced = 0;
    std::uint64_t losses = 0;
    for (const auto& [name, target] : targets_) {
      processes += target->processes.size();
      traced += target->traced_count();
      losses += target->counts.losses.total();
    }
    return fmt::format("tracing {} of {} processes of {} targets, {}", traced, processes, targets_.size(),
                       losses == 0 ? "nothing was missed" : "some calls were missed");
  }

  /// Those of the configuration: new ones, and those that were there before as it says now.
  void take_targets() {
    for (auto target = targets_.begin(); target != targets_.end();) {
      const bool stays = std::any_of(config_.targets.begin(), config_.targets.end(),
                                     [&](const TargetConfig& config) { return config.name == target->first; });
      if (!stays) retire(*target->second);
      target = stays ? std::next(target) : targets_.erase(target);
    }
    for (const TargetConfig& config : config_.targets) {
      const auto [target, is_new] = targets_.try_emplace(config.name);
      if (is_new) {
        target->second = std::make_unique<TargetState>(config, config_.directory);
        target->second->recorder.remove_old();
      } else {
        reconfigure(*target->second, config);
      }
    }
    tracing_.set_host_budget(config_.max_overhead);
  }

  /// Processes that are meant still are traced all the time.
  void reconfigure(TargetState& target, const TargetConfig& config) {
    const bool is_same = target.config.processes == config.processes && target.config.pid_file == config.pid_file;
    if (!is_same || config.mode != target.config.mode) target.window_ends.reset();
    // What is off has no processes, which may be another target's by now.
    if (!is_same || config.mode == TargetMode::kOff) retire(target);
    target.reconfigure(config);
  }

  void retire(TargetState& target) {
    tracing_.detach(target);
    target.recorder.end_file();
    for (const auto& [pid, process] : target.processes) forget_end(loop_, process);
    target.processes.clear();
  }

  Result<void> take_signals() {
    while (const std::optional<ReceivedSignal> signal = signals_.next()) {
      if (signal->number == SIGHUP) {
        reload();
      } else if (signal->number == SIGTERM || signal->number == SIGINT || signal->number == 0) {
        loop_.end();
      }
    }
    return {};
  }

  /// A configuration with a mistake changes nothing.
  void reload() {
    manager_.reloading();
    Result<DaemonConfig> config = load_config(options_);
    const Result<void> served = config && serving_ ? serving_->reload(config->serve) : Result<void>{};
    if (!config || !served) {
      log_error(config ? served.error() : config.error());
      log_warning("the configuration stays as it was");
    } else {
      if (needs_restart(config_, *config)) {
        log_warning("what has changed in [daemon] or follow-children takes effect when the daemon is restarted");
      }
      config_ = std::move(*config);
      take_targets();
      finder_.look(now());
      if (const Result<void> loaded = has_exact() ? tracing_.load(config_) : Result<void>{}; !loaded) {
        log_error(loaded.error());
      }
      tracing_.update_traces(now());
      state_.note_reload();
      log_info("the configuration has been read again");
    }
    manager_.ready(status());
  }

  const DaemonOptions& options_;
  DaemonConfig config_;
  SignalSource signals_;
  ServiceManager manager_;
  EventLoop loop_;
  Targets targets_;
  TargetTracing tracing_;
  ProcessFinder finder_;
  ServedState state_;
  std::unique_ptr<Serving> serving_;
  std::unique_ptr<OomHook> oom_hook_;
  std::string sent_status_;
  Time looked_at_memory_{};
};

}  // namespace

Result<int> run_daemon(const DaemonOptions& options) {
  HAWK_TRY_VOID(check_environment());
  SignalSource signals = HAWK_TRY(SignalSource::make());
  DaemonConfig config = HAWK_TRY(load_config(options));
  HAWK_TRY_VOID(make_own_directory(config.directory));
  constexpr std::size_t kManyFiles = 65536;
  raise_open_file_limit(kManyFiles);
  return Daemon(options, std::move(config), std::move(signals), ServiceManager::from_environment()).run();
}

}  // namespace hawk
