#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>

#include "userspace/base/event_loop.h"
#include "userspace/base/result.h"
#include "userspace/base/unique_fd.h"

namespace hawk {

/// Work that takes longer than an event loop may be held up, done by one thread in the order in which it is asked for.
class BackgroundWork {
 public:
  using Work = std::function<void()>;
  using Done = std::function<void(bool is_complete)>;

  /// `loop` must outlive it. At most `most` pieces of work wait or are being done.
  static Result<std::unique_ptr<BackgroundWork>> make(EventLoop& loop, std::size_t most);
  BackgroundWork(const BackgroundWork&) = delete;
  BackgroundWork& operator=(const BackgroundWork&) = delete;
  /// Waits for what is being done.
  ~BackgroundWork();

  /// Whether there is no room for more.
  bool is_full() const { return asked_ >= most_; }
  /// Calls `done` in the event loop once the thread has called `work` and destroyed it; false: there was no memory for
  /// it. Not any more once what is returned is destroyed, nor is the work begun then. nullptr: is_full().
  std::shared_ptr<void> ask(Work work, Done done);

 private:
  struct Piece {
    Work work;
    Done done;  ///< used by the loop's thread alone
    std::weak_ptr<void> wanted;
    bool is_complete = false;
  };

  BackgroundWork(EventLoop& loop, std::size_t most, UniqueFd wakeup);
  void run(const std::stop_token& stop);
  void hand_over();

  EventLoop& loop_;
  const std::size_t most_;
  UniqueFd wakeup_;  ///< readable when something is done
  std::size_t asked_ = 0;
  std::mutex mutex_;
  std::condition_variable_any arrived_;
  std::deque<std::unique_ptr<Piece>> waiting_;
  std::deque<std::unique_ptr<Piece>> done_;
  std::stop_source stop_;
  std::jthread thread_;  ///< the last: it uses the others
};

}  // namespace hawk
