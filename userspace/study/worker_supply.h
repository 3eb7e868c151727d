#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "userspace/study/worker_process.h"

namespace hawk {

/// Workers, one at a time: another is started for what is asked next when one has been lost, as long as that makes
/// sense. For one thread at a time.
class WorkerSupply {
 public:
  WorkerSupply(std::string program, WorkerLimits limits) : program_(std::move(program)), limits_(limits) {}

  const std::string& program() const { return program_; }
  const WorkerLimits& limits() const { return limits_; }

  /// The worker that there is; nullptr: none.
  WorkerProcess* current() const { return worker_.get(); }
  /// The worker, started now if there is none, or one in place of it if it still runs code that we do not any more;
  /// nullptr: there will be none, and why_none() says why.
  WorkerProcess* get();
  /// From now on there is this one, which has worked for another supply, unless there is one.
  void adopt(std::unique_ptr<WorkerProcess> worker);
  /// Whether the worker has worked for another supply: it may be lost because of what it read there.
  bool is_adopted() const { return is_adopted_; }
  /// Gives the worker away; nullptr: there is none.
  std::unique_ptr<WorkerProcess> release() { return std::move(worker_); }
  /// As part of a sentence.
  const std::string& why_none() const { return why_none_; }
  /// How many were started, the last of which is the one that there is.
  std::uint32_t number() const { return number_; }
  /// The worker has failed. Ends it, and says how it came to that, as part of a sentence.
  std::string lose();
  /// Ends the worker, which is to blame for nothing.
  void end() { worker_.reset(); }

 private:
  std::string program_;
  WorkerLimits limits_;
  std::unique_ptr<WorkerProcess> worker_;
  std::uint32_t number_ = 0;
  bool is_adopted_ = false;
  std::string why_none_;
  int hung_ = 0;
  int lost_ = 0;
};

}  // namespace hawk
