#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "userspace/base/result.h"
#include "userspace/study/channel.h"

namespace hawk {

/// With this as its only argument hawktrace is a worker: see run_worker().
inline constexpr const char* kWorkerArgument = "--read-files-for-parent";
/// The same of a process that runs copies of its code (move_own_code()), as the worker then does.
inline constexpr const char* kMovedWorkerArgument = "--read-files-for-parent-with-moved-code";
/// What is started as a worker, unless a test says otherwise.
inline constexpr const char* kThisProgram = "/proc/self/exe";
/// The descriptor on which a worker finds its end of the channel.
inline constexpr int kWorkerSocket = 3;

/// How long a worker is waited for, in one piece of work.
struct WorkerLimits {
  int processor_seconds = 60;  ///< of its own
  int idle_seconds = 30;       ///< in which it takes none, as when a file system does not answer it
  int seconds = 600;  ///< of the clock: one that works and answers a little, again and again, has its end as well
};

/// A process of ours that reads files which we do not trust, and ends with this object. It shares nothing with us but a
/// channel: not our memory, environment, descriptors, terminal or signals.
class WorkerProcess {
 public:
  /// Starts `program` with kWorkerArgument, or kMovedWorkerArgument if this process runs copies of its code.
  static Result<std::unique_ptr<WorkerProcess>> start(const std::string& program, WorkerLimits limits = {});
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;
  ~WorkerProcess();

  Channel& channel() { return channel_; }

  /// Whether it runs copies of its code as this process does by now.
  bool has_code_as_we() const;

  /// From its next piece of work on.
  void set_limits(WorkerLimits limits) { limits_ = limits; }
  /// A piece of work begins, for which it has its limits.
  void begin_work();
  /// The next message of that. nullopt: there is none, or it is not waited for any longer.
  std::optional<Message> receive();
  /// For so long it has waited for us.
  void add_time(std::chrono::steady_clock::duration time) { began_ += time; }
  /// What it has sent is not wanted; `why` is part of a sentence.
  void give_up(const char* why) { given_up_ = why; }
  /// Whether it was given up because it took too long.
  bool has_hung() const { return has_hung_; }
  /// It is not needed any more: it ends while others do something else, until this object goes.
  void begin_end() noexcept;
  /// Ends it, unless it has ended by itself, and says how it came to that, as part of a sentence: "its reader ...".
  std::string end();

 private:
  WorkerProcess(pid_t pid, Channel channel, WorkerLimits limits, bool has_moved_code)
      : pid_(pid), channel_(std::move(channel)), limits_(limits), has_moved_code_(has_moved_code) {}
  enum class Ending { kAtOnce, kByItself };

  std::optional<double> processor_seconds() const;
  bool is_worth_waiting();
  void give_up_waiting(const char* why);
  /// Ends it. Its status as wait(2) has it, if that is known. Does without memory, of which there may be none.
  std::optional<int> stop(Ending ending) noexcept;

  pid_t pid_;
  Channel channel_;
  WorkerLimits limits_;
  bool has_moved_code_;
  std::chrono::steady_clock::time_point began_;      ///< the current piece of work
  std::chrono::steady_clock::time_point looked_at_;  ///< when its limits were last asked for
  std::optional<double> began_at_;  ///< in its own processor time; nullopt: not asked for, as most work takes less than
                                    ///< the second after which it is
  double seen_at_ = 0;              ///< the same, when its limits were last asked for
  int idle_seconds_ = 0;
  const char* given_up_ = nullptr;
  bool has_hung_ = false;
};

}  // namespace hawk
