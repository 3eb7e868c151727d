#include "userspace/serving/http_server.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace hawk {
namespace {

using Clock = std::chrono::steady_clock;

/// How late a client's end may be noticed.
constexpr std::chrono::milliseconds kSweepEvery{100};
/// So many are accepted before others get their turn.
constexpr int kAcceptedAtOnce = 16;

}  // namespace

HttpServer::HttpServer(EventLoop& loop, Handler handler, HttpLimits limits)
    : loop_(loop), handler_(std::move(handler)), limits_(limits) {}

HttpServer::~HttpServer() {
  while (!clients_.empty()) close(clients_.begin());
  for (const auto& listener : listeners_) close_listener(*listener);
}

Result<void> HttpServer::listen(const std::vector<ListenAddress>& addresses) {
  std::vector<std::unique_ptr<Listener>> added;
  const auto listens_at = [this](const ListenAddress& address) {
    return std::any_of(listeners_.begin(), listeners_.end(),
                       [&address](const auto& listener) { return listener->address == address; });
  };
  for (const ListenAddress& address : addresses) {
    if (listens_at(address)) continue;
    Result<Listener> listener = listen_at(address);
    if (!listener) {
      for (const auto& undone : added) {
        undone->socket.reset();
        remove_socket(*undone);
      }
      return tl::unexpected<Error>(std::move(listener).error());
    }
    added.push_back(std::make_unique<Listener>(std::move(*listener)));
  }
  std::erase_if(listeners_, [&](const auto& listener) {
    if (std::find(addresses.begin(), addresses.end(), listener->address) != addresses.end()) return false;
    close_listener(*listener);
    return true;
  });
  for (auto& listener : added) {
    loop_.watch(listener->socket.get(), [this, known = listener.get()](short) -> Result<void> {
      accept_from(*known);
      return {};
    });
    listeners_.push_back(std::move(listener));
  }
  return {};
}

void HttpServer::close_listener(Listener& listener) {
  loop_.forget(listener.socket.get());
  for (auto& [id, client] : clients_) {
    if (client.listener == &listener) client.listener = nullptr;
  }
  listener.socket.reset();
  remove_socket(listener);
}

std::vector<std::string> HttpServer::addresses() const {
  std::vector<std::string> texts;
  for (const auto& listener : listeners_) texts.push_back(listener->text);
  return texts;
}

void HttpServer::accept_from(const Listener& listener) {
  if (!spare_) spare_ = UniqueFd(::eventfd(0, EFD_CLOEXEC));
  for (int i = 0; i < kAcceptedAtOnce; ++i) {
    UniqueFd socket(::accept4(listener.socket.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket && (errno == EMFILE || errno == ENFILE)) refuse_one(listener);
    if (!socket) return;
    if (make_room(listener)) {
      add(std::move(socket), listener);
    } else {
      ++counts_.refused_connections;
    }
  }
}

/// The next one, which would be there for ever otherwise.
void HttpServer::refuse_one(const Listener& listener) {
  spare_.reset();
  const UniqueFd refused(::accept4(listener.socket.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (refused) ++counts_.refused_connections;
}

/// False: all clients are being answered.
bool HttpServer::make_room(const Listener& listener) {
  std::size_t count = 0;
  auto longest = clients_.end();
  for (auto client = clients_.begin(); client != clients_.end(); ++client) {
    if (client->second.listener != &listener) continue;
    ++count;
    const HttpConnection& connection = client->second.connection;
    if (!connection.is_waiting()) continue;
    if (longest == clients_.end() || connection.since() < longest->second.connection.since()) longest = client;
  }
  if (count < limits_.connections) return true;
  if (longest == clients_.end()) return false;
  ++counts_.refused_connections;
  close(longest);
  return true;
}

void HttpServer::add(UniqueFd socket, const Listener& listener) {
  const bool is_unix = listener.address.is_unix();
  const int on = 1;
  if (!is_unix) ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  if (!sweeper_) {
    Result<TimerId> sweeper = loop_.add_timer(kSweepEvery, kSweepEvery, [this](short) -> Result<void> {
      sweep();
      return {};
    });
    // Without it no client would ever be given up.
    if (!sweeper) return;
    sweeper_ = *sweeper;
  }
  std::optional<TlsSession> tls;
  if (tls_ && !is_unix) tls.emplace(*tls_);
  const std::uint64_t id = ++next_id_;
  const auto [client, is_new] =
      clients_.emplace(id, Client{HttpConnection(ByteChannel(std::move(socket), std::move(tls)), limits_, Clock::now()),
                                  &listener, is_unix});
  const HttpConnection& connection = client->second.connection;
  loop_.watch(
      connection.fd(),
      [this, id](short events) -> Result<void> {
        proceed(id, events);
        return {};
      },
      connection.events());
}

void HttpServer::proceed(std::uint64_t id, short events) {
  const auto client = clients_.find(id);
  if (client == clients_.end()) return;
  HttpConnection& connection = client->second.connection;
  const auto take_request = [this, id](const HttpRequest& request) { return take(id, request); };
  proceeding_ = id;
  const bool goes_on = connection.proceed(events, take_request, Clock::now());
  proceeding_ = 0;
  if (!goes_on) {
    close(client);
  } else {
    loop_.set_events(connection.fd(), connection.events());
  }
}

std::shared_ptr<void> HttpServer::take(std::uint64_t id, const HttpRequest& request) {
  if (unsent_bytes() > limits_.buffered_bytes) {
    answer(id, plain_response(503, "other clients are slow to take their answers"));
    return nullptr;
  }
  const HttpPeer peer = {.is_unix = clients_.at(id).is_unix};
  return handler_(request, peer, [this, id](const HttpResponse& response) { answer(id, response); });
}

void HttpServer::answer(std::uint64_t id, const HttpResponse& response) {
  const auto client = clients_.find(id);
  if (client == clients_.end()) return;
  ++counts_.answers[response.status];
  client->second.connection.answer(response, Clock::now());
  if (proceeding_ != id) proceed(id, 0);
}

void HttpServer::close(std::map<std::uint64_t, Client>::iterator client) {
  loop_.forget(client->second.connection.fd());
  clients_.erase(client);
  if (clients_.empty() && sweeper_) loop_.remove_timer(*std::exchange(sweeper_, std::nullopt));
}

void HttpServer::sweep() {
  const Time now = Clock::now();
  for (auto client = clients_.begin(); client != clients_.end();) {
    const auto next = std::next(client);
    if (client->second.connection.deadline() <= now) {
      ++counts_.timed_out_connections;
      close(client);
    }
    client = next;
  }
}

std::size_t HttpServer::unsent_bytes() const {
  std::size_t sum = 0;
  for (const auto& [id, client] : clients_) sum += client.connection.unsent_bytes();
  return sum;
}

}  // namespace hawk
