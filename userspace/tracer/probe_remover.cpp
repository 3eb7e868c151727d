#include "userspace/tracer/probe_remover.h"

#include <utility>

#include "userspace/base/threads.h"

namespace hawk {

void ProbeRemover::remove(ProbeLinks links) {
  {
    const std::lock_guard lock(mutex_);
    if (!waiting_) {
      waiting_.emplace(std::move(links));
    } else {
      links.move_to(*waiting_);
    }
    if (std::exchange(is_running_, true)) return;
  }
  thread_ = try_thread([this] { run(); });
  if (!thread_.joinable()) run();
}

void ProbeRemover::run() {
  for (;;) {
    std::optional<ProbeLinks> removed;
    {
      const std::lock_guard lock(mutex_);
      is_running_ = waiting_.has_value();
      if (!is_running_) return;
      removed = std::exchange(waiting_, std::nullopt);
    }
    removed->remove_all();
  }
}

void ProbeRemover::wait() {
  if (thread_.joinable()) thread_.join();
}

}  // namespace hawk
