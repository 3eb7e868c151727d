#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "userspace/serving/background_work.h"
#include "userspace/serving/served_targets.h"
#include "userspace/serving/top_stacks.h"

namespace hawk {

/// The top stacks of all targets as of a while ago: their names take too long to be looked up while a client waits.
class TopStackKeeper {
 public:
  /// All of them must outlive it.
  TopStackKeeper(ServedTargets& targets, BackgroundWork& work) : targets_(targets), work_(work) {}

  /// What is known by now; has it renewed if it is old. `count`: of each target.
  std::vector<TopStacks> take(std::size_t count);

 private:
  void renew_next();

  ServedTargets& targets_;
  BackgroundWork& work_;
  std::size_t count_ = 0;
  std::vector<TopStacks> known_;
  std::vector<TopStacks> renewed_;
  std::deque<std::string> round_;
  std::shared_ptr<void> working_;
  std::chrono::steady_clock::time_point next_ = {};
};

}  // namespace hawk
