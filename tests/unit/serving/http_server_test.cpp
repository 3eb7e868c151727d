#include "userspace/serving/http_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <string>
#include <vector>

#include "tests/unit/serving/loop_thread.h"

namespace hawk {
namespace {

using namespace std::chrono_literals;

const ListenAddress kAnyPort = {.host = "127.0.0.1", .port = 0};
const std::string kGet = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n";

/// A client that waits for everything.
class BlockingClient {
 public:
  explicit BlockingClient(const std::string& address) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to = {};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(std::stoul(address.substr(address.rfind(':') + 1))));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&to), sizeof(to)), 0);
    const timeval patience = {.tv_sec = 20, .tv_usec = 0};
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  }

  bool send(const std::string& text) const {
    return ::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
  }
  /// What comes until `end` has come, or the connection ends.
  std::string receive(const std::string& end = "") {
    std::string text;
    std::array<char, 4096> piece{};
    ssize_t count = 0;
    while ((end.empty() || text.find(end) == std::string::npos) &&
           (count = ::recv(socket_.get(), piece.data(), piece.size(), 0)) > 0) {
      text.append(piece.data(), static_cast<std::size_t>(count));
    }
    EXPECT_FALSE(count < 0 && errno == EAGAIN) << "the server does not answer";
    return text;
  }
  int fd() const { return socket_.get(); }
  void close() { socket_.reset(); }

 private:
  UniqueFd socket_;
};

/// Answers each request with its path; "/big" with 8 MiB, "/later" once "/now" is asked for, "/given-up" with how many
/// clients were too slow.
class HttpServerTest : public ::testing::Test {
 protected:
  void start(HttpLimits limits = {}) {
    server_ = std::make_unique<HttpServer>(
        loop_,
        [this](const HttpRequest& request, const HttpPeer&, Answer answer) -> std::shared_ptr<void> {
          const std::string path = request.path.empty() ? "" : request.path[0];
          if (path == "later") {
            later_ = std::move(answer);
            ++taken_;
            taken_.notify_all();
            return std::shared_ptr<void>(&later_, [this](void*) {
              ++destroyed_;
              destroyed_.notify_all();
            });
          }
          if (path == "now" && later_) std::exchange(later_, nullptr)(plain_response(200, "late"));
          HttpResponse response = plain_response(200, path);
          if (path == "given-up") response.body = std::to_string(server_->counts().timed_out_connections) + "\n";
          if (path == "big") response.body.assign(8 << 20, 'b');
          answer(std::move(response));
          return nullptr;
        },
        limits);
    ASSERT_TRUE(server_->listen({kAnyPort}).has_value());
    address_ = server_->addresses().at(0);
    thread_.emplace(loop_);
  }
  void TearDown() override {
    ASSERT_TRUE(thread_ && thread_->end());
    server_.reset();
  }

  EventLoop loop_;
  std::unique_ptr<HttpServer> server_;
  std::string address_;
  Answer later_;
  std::atomic<int> taken_ = 0;      ///< requests for "/later"
  std::atomic<int> destroyed_ = 0;  ///< the work on them
  std::optional<LoopThread> thread_;
};

TEST_F(HttpServerTest, AnswersOneRequestAfterTheOther) {
  start();
  BlockingClient client(address_);
  ASSERT_TRUE(
      client.send(kGet + "HEAD /y HTTP/1.1\r\nHost: a\r\n\r\nGET /z HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
  const std::string answers = client.receive();
  EXPECT_TRUE(answers.starts_with("HTTP/1.1 200 OK\r\n")) << answers;
  EXPECT_NE(answers.find("\r\n\r\nx\nHTTP/1.1 200 OK\r\n"), std::string::npos) << answers;
  // Of the second one only the head.
  EXPECT_NE(answers.find("Content-Length: 2\r\nConnection: keep-alive"), std::string::npos) << answers;
  EXPECT_EQ(answers.find("\ny\n"), std::string::npos) << answers;
  EXPECT_TRUE(answers.ends_with("\r\n\r\nz\n")) << answers;
}

TEST_F(HttpServerTest, AnswersLaterAndGivesUpWorkForAClientThatIsGone) {
  start();
  BlockingClient patient(address_);
  ASSERT_TRUE(patient.send("GET /later HTTP/1.1\r\nHost: a\r\n\r\n"));
  taken_.wait(0);
  BlockingClient other(address_);
  ASSERT_TRUE(other.send("GET /now HTTP/1.0\r\n\r\n"));
  EXPECT_TRUE(other.receive().ends_with("now\n"));
  EXPECT_TRUE(patient.receive("late\n").ends_with("late\n"));
  destroyed_.wait(0);
  ASSERT_TRUE(patient.send("GET /later HTTP/1.1\r\nHost: a\r\n\r\n"));
  taken_.wait(1);
  patient.close();
  destroyed_.wait(1);
}

TEST_F(HttpServerTest, RefusesAnEndlessHeadAndSaysSo) {
  start();
  BlockingClient client(address_);
  ASSERT_TRUE(client.send("GET / HTTP/1.1\r\nX: "));
  const std::string piece(64 * 1024, 'x');
  client.send(piece);
  EXPECT_TRUE(client.receive().starts_with("HTTP/1.1 431 ")) << "and the connection ends";
}

TEST_F(HttpServerTest, RefusesWhatItDoesNotUnderstand) {
  start();
  for (const char* request : {"\r\n\r\n", "GET / HTTP/1.1\r\n\r\n", "\x16\x03\x01\r\n\r\n"}) {
    BlockingClient client(address_);
    ASSERT_TRUE(client.send(request));
    const std::string answer = client.receive();
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 400 ")) << answer;
    EXPECT_NE(answer.find("Connection: close"), std::string::npos);
  }
}

TEST_F(HttpServerTest, GivesUpAClientThatIsSlowToAsk) {
  start({.head_time = 300ms});
  BlockingClient silent(address_);
  BlockingClient dripping(address_);
  const auto begin = std::chrono::steady_clock::now();
  // A byte at a time keeps nothing alive.
  while (dripping.send("G") && std::chrono::steady_clock::now() - begin < 10s) {
    pollfd wait = {.fd = dripping.fd(), .events = POLLRDHUP, .revents = 0};
    ::poll(&wait, 1, 20);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
  EXPECT_EQ(silent.receive(), "");
}

TEST_F(HttpServerTest, GivesUpAClientThatTakesNothing) {
  start({.stall_time = 300ms});
  const auto begin = std::chrono::steady_clock::now();
  BlockingClient client(address_);
  ASSERT_TRUE(client.send("GET /big HTTP/1.1\r\nHost: a\r\n\r\n"));
  // The end of the connection is behind what it does not take: the server is asked.
  std::string given_up;
  while (!given_up.ends_with("\n1\n") && std::chrono::steady_clock::now() - begin < 10s) {
    BlockingClient other(address_);
    ASSERT_TRUE(other.send("GET /given-up HTTP/1.0\r\n\r\n"));
    given_up = other.receive();
  }
  EXPECT_TRUE(given_up.ends_with("\n1\n"));
  EXPECT_LT(client.receive().size(), 8U << 20);
}

TEST_F(HttpServerTest, ASlowReaderGetsAllThatItTakes) {
  start({.stall_time = 5s});
  BlockingClient client(address_);
  ASSERT_TRUE(client.send("GET /big HTTP/1.0\r\n\r\n"));
  const std::string answer = client.receive();
  EXPECT_EQ(answer.size() - (answer.find("\r\n\r\n") + 4), 8U << 20);
}

TEST_F(HttpServerTest, AnswersNobodyElseWhileOthersHoldTooMuch) {
  start({.buffered_bytes = 1024});
  BlockingClient holding(address_);
  ASSERT_TRUE(holding.send("GET /big HTTP/1.1\r\nHost: a\r\n\r\n"));
  EXPECT_NE(holding.receive("\r\n\r\n"), "");
  BlockingClient other(address_);
  ASSERT_TRUE(other.send("GET /x HTTP/1.0\r\n\r\n"));
  EXPECT_TRUE(other.receive().starts_with("HTTP/1.1 503 "));
}

TEST_F(HttpServerTest, OneThousandConnectionsKeepNobodyOut) {
  start({.connections = 16});
  std::vector<std::unique_ptr<BlockingClient>> crowd;
  for (int i = 0; i < 1000; ++i) {
    crowd.push_back(std::make_unique<BlockingClient>(address_));
    crowd.back()->send("GET / HTT");
  }
  BlockingClient client(address_);
  ASSERT_TRUE(client.send(kGet));
  EXPECT_TRUE(client.receive("x\n").ends_with("x\n"));
  thread_->end();
  EXPECT_EQ(server_->connections(), 16U);
  EXPECT_EQ(server_->counts().refused_connections, 1001U - 16U);
}

TEST_F(HttpServerTest, WhoeverIsBeingAnsweredIsNotSentAway) {
  start({.connections = 1});
  BlockingClient patient(address_);
  ASSERT_TRUE(patient.send("GET /later HTTP/1.1\r\nHost: a\r\n\r\n"));
  taken_.wait(0);
  BlockingClient refused(address_);
  refused.send(kGet);
  EXPECT_EQ(refused.receive(), "");
}

TEST(HttpServer, GoesOnAtAnAddressThatStays) {
  EventLoop loop;
  HttpServer server(loop, [](const HttpRequest&, const HttpPeer&, const Answer& answer) {
    answer(plain_response(200, "ok"));
    return nullptr;
  });
  ASSERT_TRUE(server.listen({kAnyPort}).has_value());
  const std::string address = server.addresses().at(0);
  ASSERT_TRUE(server.listen({kAnyPort, {.host = "127.0.0.2", .port = 0}}).has_value());
  EXPECT_EQ(server.addresses().at(0), address);
  EXPECT_EQ(server.addresses().size(), 2U);
  // Nothing has changed after a failure: that address is not this host's.
  EXPECT_FALSE(server.listen({{.host = "192.0.2.1", .port = 1}}).has_value());
  EXPECT_EQ(server.addresses().size(), 2U);
  ASSERT_TRUE(server.listen({kAnyPort}).has_value());
  EXPECT_EQ(server.addresses(), std::vector<std::string>{address});
}

}  // namespace
}  // namespace hawk
