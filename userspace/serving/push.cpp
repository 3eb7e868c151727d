#include "userspace/serving/push.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "userspace/base/log.h"
#include "userspace/serving/heap_period.h"
#include "userspace/serving/http_post.h"
#include "userspace/serving/profile.h"

namespace hawk {
namespace {

constexpr std::chrono::milliseconds kLongestPost{30'000};
constexpr std::uint64_t kNanosecondsPerSecond = 1'000'000'000;

/// The same for a target whose processes come and go.
std::string path_of(const PushTarget& push, const std::string& target, const TraceInfo& trace) {
  const std::uint64_t from = trace.start_unix_ns / kNanosecondsPerSecond;
  const std::uint64_t until = (trace.start_unix_ns + trace.duration_ns) / kNanosecondsPerSecond;
  return ingest_path(push, target, from, std::max(until, from + 1));
}

}  // namespace

/// One on its way.
struct Push::Profile {
  std::string target;
  Snapshot snapshot;  ///< as of now
  TraceInfo period;   ///< when it begins and ends
  std::string bytes;
};

Push::~Push() {
  if (timer_) loop_.remove_timer(*timer_);
}

Result<void> Push::send_to(std::optional<PushTarget> push) {
  std::optional<TimerId> timer;
  if (push) {
    timer = HAWK_TRY(loop_.add_timer(push->every, push->every, [this](short) -> Result<void> {
      begin_round();
      return {};
    }));
  }
  if (timer_) loop_.remove_timer(*timer_);
  timer_ = timer;
  push_ = push ? std::make_shared<const PushTarget>(std::move(*push)) : nullptr;
  round_.clear();
  writing_.reset();
  posting_.reset();
  return {};
}

void Push::begin_round() {
  // A server that is slow gets a profile of a longer time.
  if (!round_.empty() || writing_ != nullptr || posting_ != nullptr) return;
  std::vector<std::string> names;
  for (const ServedTarget& target : targets_.targets()) names.push_back(target.name);
  std::erase_if(
      sent_, [&names](const auto& sent) { return std::find(names.begin(), names.end(), sent.first) == names.end(); });
  round_.assign(names.begin(), names.end());
  send_next();
}

void Push::send_next() {
  writing_.reset();
  posting_.reset();
  while (!round_.empty()) {
    const std::string target = std::move(round_.front());
    round_.pop_front();
    if (send(target)) return;
  }
}

/// False: there is nothing to be sent of this target now.
bool Push::send(const std::string& target) {
  if (work_.is_full()) return false;
  Result<ServedHeap> heap = targets_.heap(target);
  if (!heap) return false;
  auto profile = std::make_shared<Profile>(Profile{target, std::move(heap->snapshot), {}, {}});
  std::shared_ptr<const Snapshot> before;
  if (const auto sent = sent_.find(target); sent != sent_.end()) {
    before = std::make_shared<const Snapshot>(sent->second);
  }
  auto work = [profile, before = std::move(before), symbolizer = std::move(heap->symbolizer)] {
    const Snapshot& now = profile->snapshot;
    const Snapshot period = before ? heap_of_period(*before, now, PeriodNumbers::kLiveAtEnd) : now;
    profile->bytes = profile_of(period, *symbolizer, ProfileKind::kHeap, ProfileForm::kPprof);
    profile->period = period.trace;
  };
  writing_ = work_.ask(std::move(work), [this, profile](bool is_complete) {
    if (is_complete) {
      post_profile(profile);
    } else {
      send_next();
    }
  });
  return true;
}

void Push::post_profile(const std::shared_ptr<Profile>& profile) {
  PostedBody body = {.path = path_of(*push_, profile->target, profile->period),
                     .content_type = "application/octet-stream",
                     .headers = push_->headers,
                     .body = std::move(profile->bytes)};
  posting_ =
      post(loop_, push_->url, push_->tls, std::move(body), kLongestPost, [this, profile](const std::string& failure) {
        take_result(*profile, failure);
        send_next();
      });
}

void Push::take_result(const Profile& profile, const std::string& failure) {
  if (failure.empty()) {
    sent_.insert_or_assign(profile.target, profile.snapshot);
    ++counts_.sent;
  } else {
    ++counts_.failed;
  }
  // Once, not every few seconds until it is mended.
  if (std::exchange(has_failed_, !failure.empty()) == has_failed_) return;
  const std::string server = host_header(push_->url);
  if (has_failed_) {
    log_warning(fmt::format("profiles cannot be sent to {}: {}; they will be later", server, failure));
  } else {
    log_info(fmt::format("profiles are sent to {} again", server));
  }
}

}  // namespace hawk
