#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "userspace/serving/byte_channel.h"
#include "userspace/serving/http_request.h"
#include "userspace/serving/http_response.h"

namespace hawk {

/// Bounds on what clients can take from the daemon.
struct HttpLimits {
  std::size_t connections = 128;                  ///< at each address
  std::chrono::milliseconds head_time{10'000};    ///< for a request's head, the handshake of TLS included
  std::chrono::milliseconds idle_time{60'000};    ///< between two requests
  std::chrono::milliseconds stall_time{20'000};   ///< for a reader that takes nothing
  std::size_t bytes_per_second = 16 * 1024;       ///< that a reader must take on the whole
  std::chrono::milliseconds linger_time{1000};    ///< for a client to see why it was refused
  std::size_t buffered_bytes = 64 * 1024 * 1024;  ///< of answers that clients have not taken; others get 503 then
};

/// Called once with the answer, at once or later, on the thread of the event loop.
using Answer = std::function<void(HttpResponse)>;
/// Answers a request. Work that goes on afterwards is given up when what is returned is destroyed.
using RequestHandler = std::function<std::shared_ptr<void>(const HttpRequest& request, Answer answer)>;

/// One client: reads its requests one after the other, and sends it the answers. Knows no event loop: its owner
/// polls for events() and looks at the clock.
class HttpConnection {
 public:
  using Time = std::chrono::steady_clock::time_point;
  /// Hands a request on; its answer comes by answer().
  using Take = std::function<std::shared_ptr<void>(const HttpRequest& request)>;

  HttpConnection(ByteChannel channel, const HttpLimits& limits, Time now);

  int fd() const { return channel_.fd(); }
  /// What to poll for.
  short events() const;
  /// Does what can be done. At most one request is taken: others wait for the next call. False: the connection is over.
  bool proceed(short events, const Take& take, Time now);
  /// The answer to the request that was taken last.
  void answer(const HttpResponse& response, Time now);
  /// When it has waited for long enough, for the client: it is over then. Time::max(): it waits for us.
  Time deadline() const { return deadline_; }
  /// Whether nothing is lost if it ends now: no request has been read.
  bool is_waiting() const { return state_ == State::kReading || state_ == State::kDraining; }
  /// Since when it has been in its state.
  Time since() const { return since_; }
  std::size_t unsent_bytes() const { return channel_.unsent_bytes(); }

 private:
  enum class State {
    kReading,    ///< a head
    kAnswering,  ///< has been taken
    kSending,
    kDraining,  ///< its last answer has been sent; what comes is dropped
  };

  void enter(State state, Time now);
  void send(const HttpResponse& response, bool with_body, Time now);
  void refuse(const HttpRefusal& refusal, Time now);
  void take_request(const Take& take, Time now);
  bool read(Time now);
  bool go_on_sending(Time now);

  ByteChannel channel_;
  const HttpLimits& limits_;
  State state_ = State::kReading;
  Time since_;
  Time deadline_;
  std::string received_;
  std::size_t searched_ = 0;
  std::size_t head_length_ = 0;  ///< of the request in front; 0: it is not complete
  std::size_t drained_bytes_ = 0;
  bool keeps_alive_ = true;
  bool with_body_ = true;
  std::size_t sent_before_ = 0;  ///< as of when it last went on
  Time send_end_;                ///< by which a reader at the lowest speed has all
  std::shared_ptr<void> work_;   ///< on the answer
};

}  // namespace hawk
