#pragma once

#include <mutex>
#include <optional>
#include <thread>

#include "userspace/tracer/probe_links.h"

namespace hawk {

/// Removes probes of processes that have ended, while others are traced: the kernel takes some 50 ms, and a service may
/// end a thousand processes in a second. All that are waiting go together.
class ProbeRemover {
 public:
  ProbeRemover() = default;
  ProbeRemover(const ProbeRemover&) = delete;
  ProbeRemover& operator=(const ProbeRemover&) = delete;

  /// Takes over the links. Where there is no thread to be had, they are removed now.
  void remove(ProbeLinks links);
  /// Returns when all have been removed.
  void wait();

 private:
  void run();

  std::mutex mutex_;
  std::optional<ProbeLinks> waiting_;
  bool is_running_ = false;
  std::jthread thread_;  ///< ends when nothing is waiting, and before all that it uses
};

}  // namespace hawk
