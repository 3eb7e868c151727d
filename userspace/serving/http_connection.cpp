#include "userspace/serving/http_connection.h"

#include <poll.h>

#include <algorithm>
#include <utility>

namespace hawk {
namespace {

/// So much of what a refused client goes on sending is read, so that it gets to see the answer.
constexpr std::size_t kMaxDrainedBytes = 1 << 20;

}  // namespace

HttpConnection::HttpConnection(ByteChannel channel, const HttpLimits& limits, Time now)
    : channel_(std::move(channel)), limits_(limits) {
  enter(State::kReading, now);
  deadline_ = now + limits_.head_time;
}

void HttpConnection::enter(State state, Time now) {
  state_ = state;
  since_ = now;
  switch (state) {
    case State::kReading:
      deadline_ = now + (received_.empty() ? limits_.idle_time : limits_.head_time);
      break;
    case State::kAnswering:
      deadline_ = Time::max();
      break;
    case State::kSending:
      sent_before_ = channel_.sent_bytes();
      send_end_ = now + limits_.stall_time +
                  std::chrono::seconds(channel_.unsent_bytes() / std::max<std::size_t>(limits_.bytes_per_second, 1));
      deadline_ = std::min(send_end_, now + limits_.stall_time);
      break;
    case State::kDraining:
      deadline_ = now + limits_.linger_time;
      break;
  }
}

short HttpConnection::events() const {
  switch (state_) {
    case State::kReading:
      // A request that is complete is taken in the next round: a socket can be written to at any time.
      return static_cast<short>(channel_.events(true) | (head_length_ != 0 ? POLLOUT : 0));
    case State::kAnswering:
      return POLLRDHUP;
    case State::kSending:
      return channel_.events(false);
    case State::kDraining:
      break;
  }
  return channel_.events(true);
}

bool HttpConnection::proceed(short events, const Take& take, Time now) {
  if (state_ == State::kAnswering) return (events & (POLLRDHUP | POLLHUP | POLLERR)) == 0;
  if (state_ == State::kReading || state_ == State::kDraining) {
    // What has been said before the end is answered.
    if (head_length_ == 0 && (events & (POLLIN | POLLHUP | POLLERR)) != 0 && !read(now)) return false;
    if (head_length_ != 0) take_request(take, now);
  }
  return state_ == State::kAnswering || go_on_sending(now);
}

/// False: the client has ended, or the connection has failed.
bool HttpConnection::read(Time now) {
  const bool was_empty = received_.empty();
  const bool goes_on = channel_.receive(received_);
  if (state_ == State::kDraining) {
    drained_bytes_ += received_.size();
    received_.clear();
    return goes_on && drained_bytes_ < kMaxDrainedBytes;
  }
  if (was_empty && !received_.empty()) deadline_ = std::min(deadline_, now + limits_.head_time);
  head_length_ = head_length(received_, searched_);
  if (head_length_ > kMaxHeadBytes || (head_length_ == 0 && received_.size() > kMaxHeadBytes)) {
    head_length_ = 0;
    refuse({431, "the request's head is too long"}, now);
    return true;
  }
  return goes_on || head_length_ != 0;
}

void HttpConnection::take_request(const Take& take, Time now) {
  const std::variant<HttpRequest, HttpRefusal> parsed =
      parse_request_head(std::string_view(received_).substr(0, head_length_));
  received_.erase(0, head_length_);
  searched_ = 0;
  head_length_ = 0;
  if (const HttpRefusal* refusal = std::get_if<HttpRefusal>(&parsed)) {
    refuse(*refusal, now);
    return;
  }
  const HttpRequest& request = std::get<HttpRequest>(parsed);
  keeps_alive_ = request.keeps_alive;
  with_body_ = request.method != "HEAD";
  enter(State::kAnswering, now);
  std::shared_ptr<void> work = take(request);
  if (state_ == State::kAnswering) work_ = std::move(work);
}

void HttpConnection::answer(const HttpResponse& response, Time now) {
  if (state_ == State::kAnswering) send(response, with_body_, now);
}

void HttpConnection::refuse(const HttpRefusal& refusal, Time now) {
  received_.clear();
  keeps_alive_ = false;
  send(plain_response(refusal.status, refusal.reason), true, now);
}

void HttpConnection::send(const HttpResponse& response, bool with_body, Time now) {
  work_.reset();
  std::string bytes = response_head(response, keeps_alive_);
  if (with_body) bytes += response.body;
  channel_.put(std::move(bytes));
  if (!keeps_alive_) channel_.shut_down();
  enter(State::kSending, now);
}

/// False: the connection has failed.
bool HttpConnection::go_on_sending(Time now) {
  if (!channel_.flush()) return false;
  if (state_ != State::kSending) return true;
  if (channel_.unsent_bytes() > 0) {
    if (std::exchange(sent_before_, channel_.sent_bytes()) != channel_.sent_bytes()) {
      deadline_ = std::min(send_end_, now + limits_.stall_time);
    }
    return true;
  }
  if (!keeps_alive_) {
    enter(State::kDraining, now);
    return true;
  }
  head_length_ = head_length(received_, searched_);
  enter(State::kReading, now);
  return true;
}

}  // namespace hawk
