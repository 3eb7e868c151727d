#include "userspace/serving/http_post.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

#include "userspace/serving/byte_channel.h"
#include "userspace/serving/name_lookup.h"

namespace hawk {
namespace {

/// So much of an answer is read: its first line is all that matters.
constexpr std::size_t kMaxAnswerBytes = 64 * 1024;

class Post : public std::enable_shared_from_this<Post> {
 public:
  using Done = std::function<void(std::string failure)>;

  Post(EventLoop& loop, HttpUrl url, std::optional<TlsContext> tls, PostedBody body, Done done)
      : loop_(loop), url_(std::move(url)), tls_(std::move(tls)), body_(std::move(body)), done_(std::move(done)) {}
  Post(const Post&) = delete;
  Post& operator=(const Post&) = delete;
  ~Post() {
    if (deadline_) loop_.remove_timer(*deadline_);
    close();
  }

  void begin(std::chrono::milliseconds time) {
    const Result<TimerId> deadline = loop_.add_timer(time, {}, [this](short) -> Result<void> {
      finish("it takes too long");
      return {};
    });
    // With no descriptor for a timer there is none for a socket: the lookup or the connection will say so.
    if (deadline) deadline_ = *deadline;
    lookup_ = look_up(loop_, url_.host, url_.port, [this](std::vector<HostAddress> addresses, std::string failure) {
      addresses_ = std::move(addresses);
      last_failure_ = failure.empty() ? "it has no address" : std::move(failure);
      connect_next();
    });
  }

 private:
  void close() {
    if (channel_) {
      loop_.forget(channel_->fd());
      channel_.reset();
    }
    if (socket_) {
      loop_.forget(socket_.get());
      socket_.reset();
    }
  }

  /// The last thing that is done: `done_` may destroy this.
  void finish(std::string failure) {
    const std::shared_ptr<Post> alive = shared_from_this();
    close();
    if (const Done done = std::exchange(done_, nullptr)) done(std::move(failure));
  }

  void connect_next() {
    close();
    if (next_ == addresses_.size()) {
      finish(last_failure_);
      return;
    }
    const HostAddress& address = addresses_[next_++];
    socket_ = UniqueFd(::socket(address.bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const auto* bytes = reinterpret_cast<const sockaddr*>(&address.bytes);
    if (!socket_ || (::connect(socket_.get(), bytes, address.length) != 0 && errno != EINPROGRESS)) {
      last_failure_ = std::strerror(errno);
      connect_next();
      return;
    }
    loop_.watch(
        socket_.get(),
        [this](short) -> Result<void> {
          connected();
          return {};
        },
        POLLOUT);
  }

  void connected() {
    int error = 0;
    socklen_t length = sizeof(error);
    ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &length);
    if (error != 0) {
      last_failure_ = std::strerror(error);
      connect_next();
      return;
    }
    loop_.forget(socket_.get());
    std::optional<TlsSession> session;
    if (tls_) session.emplace(*tls_, url_.host);
    channel_.emplace(std::move(socket_), std::move(session));
    channel_->put(request());
    loop_.watch(channel_->fd(), [this](short events) -> Result<void> {
      proceed(events);
      return {};
    });
    proceed(0);
  }

  std::string request() const {
    std::string text = fmt::format(
        "POST {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: hawktrace/{}\r\nContent-Type: {}\r\nContent-Length: {}\r\n"
        "Connection: close\r\n",
        body_.path, host_header(url_), HAWKTRACE_VERSION, body_.content_type, body_.body.size());
    for (const auto& [name, value] : body_.headers) text += fmt::format("{}: {}\r\n", name, value);
    return text + "\r\n" + body_.body;
  }

  void proceed(short events) {
    const bool has_input = (events & (POLLIN | POLLHUP | POLLERR)) != 0;
    const bool goes_on = !has_input || channel_->receive(answer_);
    if (const std::optional<int> status = this->status()) {
      finish(*status / 100 == 2 ? "" : fmt::format("the server answers with status {}", *status));
      return;
    }
    if (!goes_on || !channel_->flush() || answer_.size() > kMaxAnswerBytes) {
      const std::string_view failure = channel_->failure();
      finish(failure.empty() ? "the server has ended the connection" : fmt::format("TLS: {}", failure));
      return;
    }
    loop_.set_events(channel_->fd(), channel_->events(true));
  }

  /// Of the answer; nullopt: it is not known yet. Interim answers (1xx) are skipped. 0: it is not HTTP.
  std::optional<int> status() {
    for (;;) {
      const std::size_t end = answer_.find("\r\n");
      if (end == std::string::npos) return std::nullopt;
      constexpr std::size_t kStatus = 9;  // behind "HTTP/1.1 "
      int status = 0;
      if (answer_.starts_with("HTTP/1.") && end >= kStatus + 3) {
        std::from_chars(answer_.data() + kStatus, answer_.data() + kStatus + 3, status);
      }
      if (status / 100 != 1) return status;
      const std::size_t head_end = answer_.find("\r\n\r\n");
      if (head_end == std::string::npos) return std::nullopt;
      answer_.erase(0, head_end + 4);
    }
  }

  EventLoop& loop_;
  const HttpUrl url_;
  const std::optional<TlsContext> tls_;
  const PostedBody body_;
  Done done_;
  std::optional<TimerId> deadline_;
  std::shared_ptr<void> lookup_;
  std::vector<HostAddress> addresses_;
  std::size_t next_ = 0;
  std::string last_failure_;
  UniqueFd socket_;  ///< that is being connected
  std::optional<ByteChannel> channel_;
  std::string answer_;
};

}  // namespace

std::shared_ptr<void> post(EventLoop& loop, const HttpUrl& url, const std::optional<TlsContext>& tls, PostedBody body,
                           std::chrono::milliseconds time, std::function<void(std::string failure)> done) {
  const auto begun = std::make_shared<Post>(loop, url, tls, std::move(body), std::move(done));
  begun->begin(time);
  return begun;
}

}  // namespace hawk
