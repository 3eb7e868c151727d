#pragma once

#include <atomic>
#include <functional>
#include <latch>
#include <thread>

#include "userspace/base/result.h"
#include "userspace/base/unique_fd.h"
#include "userspace/tracer/wakeups.h"

namespace hawk {

/// Provides memory for the BPF programs when they request it, independently of the other threads: a thread that draws a
/// screen or reads the tables of a library cannot answer in time. One for each kind of memory, because the kernel takes
/// 15 ms or more to create a map, during which another kind must not run out.
class MemoryThread {
 public:
  /// Both run in the thread. That they fail, or find no memory of ours, means that the kernel has none.
  struct Work {
    std::function<Result<void>()> hand_over_first;  ///< gives the programs what was made before the thread
    std::function<Result<void>()> make_more;        ///< the programs have asked, or could be given nothing a while ago
  };

  MemoryThread() = default;
  MemoryThread(const MemoryThread&) = delete;
  MemoryThread& operator=(const MemoryThread&) = delete;
  ~MemoryThread() { end(); }

  /// The programs ask through the ring buffer map `wakeups_fd`. Whatever `work` uses must outlive the thread: see
  /// end().
  Result<void> prepare(int wakeups_fd, Work work);
  /// Begins to give memory to the programs. Without a thread there is what was made, and no more.
  void start();
  /// Starts, if it has not begun, and returns when the programs have what was made first.
  void wait_until_open();
  /// No more is needed from now on.
  void end();

  /// Whether the kernel has ever had no memory.
  bool is_refused_memory() const { return refused_.load(std::memory_order_relaxed); }

  /// Whether the calling thread goes before all others when it is woken: the programs do not wait, and to be nice to
  /// the target is no reason to lose its stacks and blocks. It must be so before it is asked, or a busy CPU keeps it
  /// from finding out. Where it may not, it does what it can.
  static void set_realtime(bool is_wanted);

 private:
  bool wait(int timeout_ms) const;
  void open_for_programs();
  void run();

  Work work_;
  std::latch opened_{1};
  std::atomic<bool> refused_ = false;
  WakeupRing wakeups_;
  UniqueFd stop_;  ///< readable: the thread must end
  std::jthread thread_;
};

}  // namespace hawk
