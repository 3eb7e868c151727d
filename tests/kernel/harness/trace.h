#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/kernel/harness/child_process.h"
#include "tests/kernel/harness/report.h"
#include "tests/support/scratch_directory.h"

namespace hawk {

/// What a test runs with: a way to attach, a live table and a way to unwind. Perf events only with one of the tables,
/// because to detach them takes seconds. The ways that unwind by tables alone trace programs without frame pointers.
enum class Way { kPointsArena, kSessionArena, kSessionHash, kMultiArena, kMultiHash, kPerfHash, kCfiArena, kCfiHash };
/// Each way to attach, and each way to unwind, with one of the tables.
inline constexpr Way kWays[] = {Way::kSessionHash, Way::kMultiArena, Way::kPerfHash, Way::kCfiArena};
/// Of the tests about calls and where they are seen: points change nothing else.
inline constexpr Way kCallWays[] = {Way::kPointsArena, Way::kSessionHash, Way::kMultiArena, Way::kPerfHash,
                                    Way::kCfiArena};
/// Of the tests about what is counted, and lost: both tables.
inline constexpr Way kTableWays[] = {Way::kPointsArena, Way::kSessionArena, Way::kSessionHash, Way::kMultiArena,
                                     Way::kMultiHash,   Way::kPerfHash,     Way::kCfiArena};
inline constexpr Way kPointsWays[] = {Way::kPointsArena};
inline constexpr Way kArenaWays[] = {Way::kSessionArena, Way::kMultiArena, Way::kCfiArena};
inline constexpr Way kHashWays[] = {Way::kSessionHash, Way::kMultiHash, Way::kPerfHash, Way::kCfiHash};
/// Of the tests about stacks.
inline constexpr Way kStackWays[] = {Way::kSessionArena, Way::kSessionHash, Way::kMultiArena, Way::kMultiHash,
                                     Way::kPerfHash,     Way::kCfiArena,    Way::kCfiHash};
/// As the names of tests have it: "session_arena".
std::string way_name(Way way);
/// Each part, as the option of that name has it.
std::string attach_via(Way way);
std::string live_table(Way way);
std::string unwind(Way way);

/// The words of a hawktrace that attaches by `way` and writes all it knows to `report_path`; no target yet.
std::vector<std::string> hawktrace_command(Way way, const std::string& report_path);

/// A hawktrace at work, writing its JSON report to a file of its own.
class Trace {
 public:
  /// Attaches to `pid`; returns when every probe is in place and counting. `runner`: the words of a command that runs
  /// hawktrace.
  static Trace attach(pid_t pid, Way way, const std::vector<std::string>& options = {},
                      const std::vector<std::string>& runner = {});
  /// Starts `hawktrace -- command`; the command talks through hawktrace's standard streams.
  static Trace launch(const std::vector<std::string>& command, Way way, const std::vector<std::string>& options = {});

  ChildProcess& process() { return *process_; }
  /// From the start of hawktrace to its word that it is ready.
  std::chrono::milliseconds attach_time() const { return attach_time_; }
  /// From the signal to the end of hawktrace, the report written. 0 before finish().
  std::chrono::milliseconds finish_time() const { return finish_time_; }
  /// Begins a generation of blocks, which has this number. Returns once it has begun.
  void mark(std::uint64_t generation);
  /// Ends the trace as Ctrl-C does. Expects `status`, and reads the report.
  Report finish(int status = 0);
  /// Waits until hawktrace ends by itself. Expects `status`, and that a command that it has started says what it says
  /// untraced (untraced.h), and reads the report.
  Report wait_for_report(int status = 0);

 private:
  Trace(Way way, const std::vector<std::string>& options);
  /// Those of hawktrace, without a target.
  std::vector<std::string> words() const;

  Way way_;
  std::vector<std::string> options_;  ///< beyond those that every trace is given
  std::unique_ptr<ScratchDirectory> directory_;
  std::unique_ptr<ChildProcess> process_;
  std::vector<std::string> command_ = {};
  std::chrono::milliseconds attach_time_{};
  std::chrono::milliseconds finish_time_{};
};

/// The least that --max-memory can be, as hawktrace says when it is given less.
std::uint64_t least_memory(Way way, const std::string& max_stacks);

}  // namespace hawk
