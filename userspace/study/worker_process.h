#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>

#include "userspace/base/result.h"
#include "userspace/study/channel.h"

namespace hawk {

/// With this as its only argument hawktrace is a worker: see run_worker().
inline constexpr const char* kWorkerArgument = "--read-files-for-parent";
/// What is started as a worker, unless a test says otherwise.
inline constexpr const char* kThisProgram = "/proc/self/exe";
/// The descriptor on which a worker finds its end of the channel.
inline constexpr int kWorkerSocket = 3;

/// How long a worker is waited for, in one piece of work.
struct WorkerLimits {
  int processor_seconds = 60;  ///< of its own
  int idle_seconds = 30;       ///< in which it takes none, as when a file system does not answer it
};

/// A process of ours that reads files which we do not trust, and ends with this object. It shares nothing with us but a
/// channel: not our memory, environment, descriptors, terminal or signals.
class WorkerProcess {
 public:
  /// Starts `program` with kWorkerArgument.
  static Result<std::unique_ptr<WorkerProcess>> start(const std::string& program, WorkerLimits limits = {});
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;
  ~WorkerProcess();

  Channel& channel() { return channel_; }

  /// A piece of work begins, for which it has its limits.
  void begin_work();
  /// To be asked each second while that goes on: whether it is still to be waited for.
  bool is_worth_waiting();
  /// Whether it was given up because it took too long.
  bool has_hung() const { return given_up_ != nullptr; }
  /// Ends it, unless it has ended by itself, and says how it came to that, as part of a sentence: "its reader ...".
  std::string end();

 private:
  WorkerProcess(pid_t pid, Channel channel, WorkerLimits limits)
      : pid_(pid), channel_(std::move(channel)), limits_(limits) {}
  std::optional<double> processor_seconds() const;
  /// Ends it. Its status as wait(2) has it, if that is known. Does without memory, of which there may be none.
  std::optional<int> stop() noexcept;

  pid_t pid_;
  Channel channel_;
  WorkerLimits limits_;
  double began_at_ = 0;  ///< in its own processor time, as all here
  double seen_at_ = 0;   ///< when it was last asked for
  int idle_seconds_ = 0;
  const char* given_up_ = nullptr;
};

}  // namespace hawk
