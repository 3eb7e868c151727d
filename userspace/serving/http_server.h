#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "userspace/base/event_loop.h"
#include "userspace/serving/http_connection.h"
#include "userspace/serving/listen_address.h"
#include "userspace/serving/tls.h"

namespace hawk {

/// Where a client has come from: what access is decided by.
struct HttpPeer {
  bool is_unix = false;
};

/// How clients have been dealt with; all monotonic.
struct HttpCounts {
  std::map<int, std::uint64_t> answers;     ///< by status
  std::uint64_t refused_connections = 0;    ///< there were too many
  std::uint64_t timed_out_connections = 0;  ///< the client had not gone on for too long
};

/// An HTTP/1.1 server in an event loop. Each client has bounded time and memory, and the number of clients is bounded;
/// when it is reached, the one that has said nothing for longest gives way.
class HttpServer {
 public:
  using Handler = std::function<std::shared_ptr<void>(const HttpRequest&, const HttpPeer&, Answer)>;

  /// `loop` must outlive it.
  HttpServer(EventLoop& loop, Handler handler, HttpLimits limits = {});
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer();

  /// From now on listens at these addresses and no others. A failure changes nothing. Connections go on.
  Result<void> listen(const std::vector<ListenAddress>& addresses);
  /// Of connections to come that are not by a unix socket; nullopt: they are not encrypted.
  void use_tls(std::optional<TlsContext> context) { tls_ = std::move(context); }

  /// As they can be typed.
  std::vector<std::string> addresses() const;
  std::size_t connections() const { return clients_.size(); }
  const HttpCounts& counts() const { return counts_; }

 private:
  using Time = HttpConnection::Time;
  struct Client {
    HttpConnection connection;
    const Listener* listener;  ///< nullptr: it is closed by now
    bool is_unix;
  };

  void close_listener(Listener& listener);
  void accept_from(const Listener& listener);
  void refuse_one(const Listener& listener);
  bool make_room(const Listener& listener);
  void add(UniqueFd socket, const Listener& listener);
  void proceed(std::uint64_t id, short events);
  std::shared_ptr<void> take(std::uint64_t id, const HttpRequest& request);
  void answer(std::uint64_t id, const HttpResponse& response);
  void close(std::map<std::uint64_t, Client>::iterator client);
  void sweep();
  std::size_t unsent_bytes() const;

  EventLoop& loop_;
  Handler handler_;
  const HttpLimits limits_;
  std::optional<TlsContext> tls_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  UniqueFd spare_;  ///< given up for a client that is refused because there are no more descriptors
  std::map<std::uint64_t, Client> clients_;  ///< by a number that is never used again
  std::uint64_t next_id_ = 0;
  std::uint64_t proceeding_ = 0;  ///< the client whose turn it is; 0: none
  std::optional<TimerId> sweeper_;
  HttpCounts counts_;
};

}  // namespace hawk
