#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "userspace/base/event_loop.h"
#include "userspace/serving/background_work.h"
#include "userspace/serving/push_counts.h"
#include "userspace/serving/push_target.h"
#include "userspace/serving/served_targets.h"

namespace hawk {

/// Sends a profile of each traced target to a Pyroscope server, every so often: what was allocated since the last one
/// that was accepted, and what is live now. So nothing is missed or counted twice where the server cannot be reached
/// for a while.
class Push {
 public:
  /// All of them must outlive it.
  Push(EventLoop& loop, ServedTargets& targets, BackgroundWork& work) : loop_(loop), targets_(targets), work_(work) {}
  Push(const Push&) = delete;
  Push& operator=(const Push&) = delete;
  ~Push();

  /// From now on sends there; nullopt: nowhere. A failure changes nothing.
  Result<void> send_to(std::optional<PushTarget> push);
  bool is_on() const { return push_ != nullptr; }
  const PushCounts& counts() const { return counts_; }

 private:
  struct Profile;
  void begin_round();
  void send_next();
  bool send(const std::string& target);
  void post_profile(const std::shared_ptr<Profile>& profile);
  void take_result(const Profile& profile, const std::string& failure);

  EventLoop& loop_;
  ServedTargets& targets_;
  BackgroundWork& work_;
  std::shared_ptr<const PushTarget> push_;
  std::optional<TimerId> timer_;
  std::deque<std::string> round_;         ///< targets that are still to be sent
  std::shared_ptr<void> writing_;         ///< the profile that is being written
  std::shared_ptr<void> posting_;         ///< the profile that is being sent
  std::map<std::string, Snapshot> sent_;  ///< by target: what the server has accepted last
  bool has_failed_ = false;               ///< the last one
  PushCounts counts_;
};

}  // namespace hawk
