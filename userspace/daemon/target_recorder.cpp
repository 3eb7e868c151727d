#include "userspace/daemon/target_recorder.h"

#include <fmt/chrono.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <utility>

#include "userspace/base/log.h"
#include "userspace/base/system_failure.h"
#include "userspace/base/unix_time.h"
#include "userspace/daemon/directory_entries.h"
#include "userspace/daemon/recording_retention.h"

namespace hawk {
namespace {

constexpr std::chrono::minutes kCheckEvery{1};

TraceRecording::Options options_of(const RecordingRules& rules) {
  return {.symbols = true,
          .overwrite = false,
          .rotation = {.bytes = rules.file_bytes, .after = rules.file_age},
          .ages = rules.ages,
          .histograms = rules.histograms};
}

DumpOptions triggers_of(const RecordingRules& rules) {
  return {.allocated_bytes = rules.dump_allocated_bytes,
          .growth_bytes = rules.dump_growth_bytes,
          .at_peak = rules.dump_peak};
}

/// Heaps are private data.
constexpr mode_t kPrivate = 0700;

bool is_there(const std::string& path) {
  struct stat status = {};
  return ::lstat(path.c_str(), &status) == 0;
}

}  // namespace

TargetRecorder::TargetRecorder(const std::string& target, const RecordingRules& rules, const std::string& directory)
    : target_(target),
      directory_(directory + "/" + target),
      rules_(rules),
      recording_(options_of(rules), [this] { return next_path(); }),
      triggers_(triggers_of(rules)) {}

void TargetRecorder::set_rules(const RecordingRules& rules) {
  const bool is_same = rules.dump_allocated_bytes == rules_.dump_allocated_bytes &&
                       rules.dump_growth_bytes == rules_.dump_growth_bytes && rules.dump_peak == rules_.dump_peak;
  if (!is_same) triggers_ = DumpTriggers(triggers_of(rules));
  // What is not recorded any more ends unseen.
  if (rules_.enabled && !rules.enabled) end_file();
  rules_ = rules;
  recording_.set_options(options_of(rules));
  next_ = {};
}

/// "web-20261125-221503.hawk"; in UTC, so that names are in the order of time.
std::string TargetRecorder::next_path() {
  // If they cannot be made, nor can the file.
  ::mkdir(directory_.substr(0, directory_.rfind('/')).c_str(), kPrivate);
  ::mkdir(directory_.c_str(), kPrivate);
  const std::string name = fmt::format("{}/{}-{:%Y%m%d-%H%M%S}", directory_, target_, fmt::gmtime(std::time(nullptr)));
  last_path_ = name + ".hawk";
  for (int number = 1; is_there(last_path_); ++number) last_path_ = fmt::format("{}_{}.hawk", name, number);
  return last_path_;
}

/// What is written to a removed file is lost.
void TargetRecorder::give_up_removed_file() {
  const std::string path = recording_.path();
  if (path.empty() || is_there(path)) return;
  recording_.give_up_file();
  log_warning(fmt::format("{}: {} has been removed; another recording is begun", target_, path));
}

bool TargetRecorder::succeeds(const Result<void>& written) {
  if (written) {
    if (std::exchange(has_failed_, false)) log_info(fmt::format("{}: recorded again", target_));
    return true;
  }
  recording_.give_up_file();
  if (!std::exchange(has_failed_, true)) {
    log_warning(fmt::format("{}: not recorded: {}; the trace goes on", target_, written.error().what));
  }
  return false;
}

void TargetRecorder::record_if_due(const std::vector<ProcessTrace*>& traces, const Counters& totals, Time now,
                                   const std::function<void()>& read_lives) {
  if (now - checked_ >= kCheckEvery) remove_old();
  if (!rules_.enabled || traces.empty()) return;
  DumpCause cause = triggers_.due(totals);
  if (cause == DumpCause::kNone && now < next_) return;
  if (now >= next_) next_ = now + rules_.every;
  if (cause != DumpCause::kNone) triggers_.dumped(cause, totals);
  give_up_removed_file();
  if (rules_.wants_lives() && (cause != DumpCause::kNone || recording_.is_full())) read_lives();
  for (ProcessTrace* const trace : traces) {
    if (!succeeds(recording_.append(*trace, cause))) return;
  }
}

bool TargetRecorder::record_now(const std::vector<ProcessTrace*>& traces, Time deadline) {
  if (!rules_.enabled) return false;
  give_up_removed_file();
  return std::all_of(traces.begin(), traces.end(), [&](ProcessTrace* trace) {
    return std::chrono::steady_clock::now() < deadline && succeeds(recording_.append(*trace, DumpCause::kNone));
  });
}

bool TargetRecorder::end(ProcessTrace& trace, const Snapshot& last) {
  if (!rules_.enabled) return false;
  give_up_removed_file();
  const bool is_written = succeeds(recording_.end(trace, last));
  if (is_written) succeeds(recording_.end_file_if_full());
  return is_written;
}

void TargetRecorder::end_file() { succeeds(recording_.end_file()); }

void TargetRecorder::remove_old() {
  checked_ = std::chrono::steady_clock::now();
  const std::string current = recording_.path();
  const std::string current_name = current.substr(current.rfind('/') + 1);
  std::vector<DirectoryEntry> files = entries_of(directory_);
  // What others have put there, or where the directory leads to, is theirs.
  std::erase_if(files, [&](const DirectoryEntry& file) { return !file.name.starts_with(target_ + "-"); });
  kept_bytes_ = 0;
  for (const DirectoryEntry& file : files) kept_bytes_ += file.name == current_name ? 0 : file.size_bytes;
  for (const std::string& name :
       recordings_to_remove(std::move(files), current_name, rules_.keep_bytes, rules_.keep_age, clock_.now_unix_ns())) {
    if (::unlink((directory_ + "/" + name).c_str()) == 0) log_verbose(fmt::format("{}: removed {}", target_, name));
  }
}

}  // namespace hawk
