#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "userspace/base/event_loop.h"
#include "userspace/serving/background_work.h"
#include "userspace/serving/http_connection.h"
#include "userspace/serving/profile.h"
#include "userspace/serving/served_targets.h"

namespace hawk {

/// What profile is wanted.
struct ProfileQuery {
  std::string target;
  ProfileKind kind = ProfileKind::kHeap;
  ProfileForm form = ProfileForm::kPprof;
  std::chrono::seconds period{0};  ///< 0: since tracing began
};

/// Profiles may be of so long a period.
inline constexpr std::chrono::seconds kMaxProfilePeriod{300};

/// Answers requests for profiles. Periods and profiles being written are bounded in number.
class ProfileRequests {
 public:
  /// All of them must outlive it.
  ProfileRequests(EventLoop& loop, ServedTargets& targets, BackgroundWork& work)
      : loop_(loop), targets_(targets), work_(work) {}

  /// As a RequestHandler.
  std::shared_ptr<void> answer(const ProfileQuery& query, Answer answer);

 private:
  struct Period;
  std::shared_ptr<void> begin_period(const ProfileQuery& query, ServedHeap heap, Answer answer);
  void end_period(Period& period);
  std::shared_ptr<void> write(const ProfileQuery& query, ServedHeap heap, std::shared_ptr<const Snapshot> before,
                              Answer answer);

  EventLoop& loop_;
  ServedTargets& targets_;
  BackgroundWork& work_;
  std::size_t periods_ = 0;
};

}  // namespace hawk
