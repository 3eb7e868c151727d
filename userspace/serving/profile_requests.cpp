#include "userspace/serving/profile_requests.h"

#include <optional>
#include <utility>

#include "userspace/base/printable.h"
#include "userspace/serving/heap_period.h"

namespace hawk {
namespace {

constexpr std::size_t kMaxPeriods = 16;
constexpr const char* kBusy = "too many profiles are asked for: try again later";

HttpResponse busy_response(const char* reason) {
  HttpResponse response = plain_response(503, reason);
  response.headers.emplace_back("Retry-After", "5");
  return response;
}

HttpResponse failure_response(const Error& error) {
  return plain_response(error.exit_code == ExitCode::kNoTarget ? 404 : 503, printable_unicode(error.what));
}

HttpResponse profile_response(const ProfileQuery& query, std::string bytes) {
  HttpResponse response;
  response.body = std::move(bytes);
  if (query.form == ProfileForm::kPprof) {
    response.content_type = "application/octet-stream";
    response.headers.emplace_back("Content-Disposition", query.kind == ProfileKind::kHeap
                                                             ? "attachment; filename=\"heap.pb.gz\""
                                                             : "attachment; filename=\"allocs.pb.gz\"");
  }
  return response;
}

}  // namespace

/// One that has begun. Destroyed when the client is gone, too.
struct ProfileRequests::Period {
  Period(ProfileRequests& of, ProfileQuery what, Answer to, std::shared_ptr<const Snapshot> at_begin)
      : owner(of), query(std::move(what)), answer(std::move(to)), before(std::move(at_begin)) {
    ++owner.periods_;
  }
  Period(const Period&) = delete;
  Period& operator=(const Period&) = delete;
  ~Period() {
    --owner.periods_;
    if (timer) owner.loop_.remove_timer(*timer);
  }

  ProfileRequests& owner;
  ProfileQuery query;
  Answer answer;
  std::shared_ptr<const Snapshot> before;
  std::optional<TimerId> timer;
  std::shared_ptr<void> writing;
};

std::shared_ptr<void> ProfileRequests::answer(const ProfileQuery& query, Answer answer) {
  const bool is_of_period = query.period.count() > 0;
  if (is_of_period ? periods_ == kMaxPeriods : work_.is_full()) {
    answer(busy_response(kBusy));
    return nullptr;
  }
  Result<ServedHeap> heap = targets_.heap(query.target);
  if (!heap) {
    answer(failure_response(heap.error()));
    return nullptr;
  }
  if (is_of_period) return begin_period(query, std::move(*heap), std::move(answer));
  return write(query, std::move(*heap), nullptr, std::move(answer));
}

std::shared_ptr<void> ProfileRequests::begin_period(const ProfileQuery& query, ServedHeap heap, Answer answer) {
  auto before = std::make_shared<const Snapshot>(std::move(heap.snapshot));
  auto period = std::make_shared<Period>(*this, query, std::move(answer), std::move(before));
  const Result<TimerId> timer = loop_.add_timer(query.period, {}, [this, begun = period.get()](short) -> Result<void> {
    end_period(*begun);
    return {};
  });
  if (!timer) {
    period->answer(failure_response(timer.error()));
    return nullptr;
  }
  period->timer = *timer;
  return period;
}

/// Its answer is the end of `period`.
void ProfileRequests::end_period(Period& period) {
  const Answer answer = period.answer;
  Result<ServedHeap> heap = targets_.heap(period.query.target);
  if (!heap) {
    answer(failure_response(heap.error()));
    return;
  }
  if (work_.is_full()) {
    answer(busy_response(kBusy));
    return;
  }
  period.writing = write(period.query, std::move(*heap), period.before, answer);
}

std::shared_ptr<void> ProfileRequests::write(const ProfileQuery& query, ServedHeap heap,
                                             std::shared_ptr<const Snapshot> before, Answer answer) {
  auto of = std::make_shared<ServedHeap>(std::move(heap));
  auto bytes = std::make_shared<std::string>();
  auto work = [of = std::move(of), before = std::move(before), query, bytes] {
    if (before != nullptr) of->snapshot = heap_of_period(*before, of->snapshot, PeriodNumbers::kChange);
    *bytes = profile_of(of->snapshot, *of->symbolizer, query.kind, query.form);
  };
  return work_.ask(std::move(work), [query, bytes, answer = std::move(answer)](bool is_complete) {
    answer(is_complete ? profile_response(query, std::move(*bytes)) : busy_response("out of memory"));
  });
}

}  // namespace hawk
