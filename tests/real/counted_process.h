#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/kernel/harness/child_process.h"
#include "tests/kernel/harness/report.h"
#include "tests/kernel/harness/trace.h"
#include "tests/kernel/harness/untraced.h"
#include "tests/real/account.h"

namespace hawk {

/// A process whose allocator calls are counted by a preloaded library that knows nothing of hawktrace (counter.c). At
/// the end its program is run once more, untraced, and must say the same (tests/kernel/harness/untraced.h).
class CountedProcess {
 public:
  /// `twin`: with the program's arguments alone.
  explicit CountedProcess(Twin twin);
  ~CountedProcess();
  CountedProcess(const CountedProcess&) = delete;
  CountedProcess& operator=(const CountedProcess&) = delete;

  ChildProcess& process() { return *process_; }

  /// Stops every thread (SIGSTOP) where none is inside an allocator function, so that no counter of calls can be
  /// half way through one. Tries until that is so; throws after kPatienceMs.
  void stop_outside_allocator();
  void resume();
  /// Waits until it has called its allocator `count` times more.
  void wait_for_calls(std::uint64_t count) const;
  /// Lets the preloaded counter begin. The process must be stopped outside the allocator.
  void start_counting();
  /// What the preloaded counter has counted; whole only while the process is stopped outside the allocator.
  hawk_account account() const { return *account_; }

 private:
  std::uint64_t calls() const;
  bool is_outside_allocator(const std::vector<pid_t>& threads) const;
  void let_it_go_on();

  ScratchDirectory directory_;
  hawk_account* account_ = nullptr;
  Twin twin_;
  std::unique_ptr<ChildProcess> process_;
};

/// Both counters of the same calls.
struct Witnesses {
  Report report;
  hawk_account account = {};
};

/// Traces `target` by `way` while it does `work`, and counts the same calls: both begin while it stands still and both
/// end while it stands still. It is running again afterwards.
Witnesses trace_counted(CountedProcess& target, Way way, const std::function<void()>& work);

/// Expects that the report is exact, sound, and equal to the account in every number that both have.
void expect_equal(const Witnesses& witnesses);

/// Expects that nothing was lost and that the report says so.
void expect_exact(const Report& report);

}  // namespace hawk
