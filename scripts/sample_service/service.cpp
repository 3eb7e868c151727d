/// A small service for `scripts/quickstart`: three worker threads answer made-up requests until SIGINT or SIGTERM.
/// Its heap has the three shapes that a real one has: churn (RequestParser), a bounded cache that looks large but is
/// constant (ThumbnailCache), and a leak (SessionStore::remember keeps what is never forgotten).

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

/// What a client asked for, taken apart.
struct Request {
  std::uint64_t client = 0;
  std::string path;
  std::vector<std::string> headers;
};

/// Takes request lines apart. Everything it allocates is freed when the request is answered.
class RequestParser {
 public:
  [[gnu::noinline]] Request parse(const std::string& text, std::uint64_t client) const {
    Request request{client, text.substr(0, text.find('\n')), {}};
    std::size_t begin = text.find('\n');
    while (begin != std::string::npos) {
      const std::size_t end = text.find('\n', begin + 1);
      request.headers.push_back(text.substr(begin + 1, end == std::string::npos ? end : end - begin - 1));
      begin = end;
    }
    return request;
  }
};

/// The last kCapacity thumbnails, least recently used first out: large, but it stops growing.
class ThumbnailCache {
 public:
  [[gnu::noinline]] void insert(std::uint64_t key) {
    const std::lock_guard lock(mutex_);
    const auto found = index_.find(key);
    if (found != index_.end()) {
      recent_.splice(recent_.begin(), recent_, found->second);
      return;
    }
    recent_.push_front({key, std::make_unique<unsigned char[]>(kThumbnailBytes)});
    index_[key] = recent_.begin();
    if (recent_.size() > kCapacity) {
      index_.erase(recent_.back().key);
      recent_.pop_back();
    }
  }

 private:
  static constexpr std::size_t kCapacity = 64;
  static constexpr std::size_t kThumbnailBytes = 8192;

  struct Thumbnail {
    std::uint64_t key;
    std::unique_ptr<unsigned char[]> pixels;
  };

  std::mutex mutex_;
  std::list<Thumbnail> recent_;
  std::unordered_map<std::uint64_t, std::list<Thumbnail>::iterator> index_;
};

/// One client's state between two requests.
struct Session {
  std::uint64_t client = 0;
  unsigned char state[2040] = {};
};

/// Sessions by client. The bug: a client that comes back gets a new session, and the old one is never deleted.
class SessionStore {
 public:
  [[gnu::noinline]] void remember(std::uint64_t client) {
    Session* session = new Session;  // the leak
    session->client = client;
    const std::lock_guard lock(mutex_);
    by_client_[client % kClients] = session;
  }

 private:
  static constexpr std::size_t kClients = 16;

  std::mutex mutex_;
  Session* by_client_[kClients] = {};
};

/// Wires the parts together and answers requests.
class Service {
 public:
  [[gnu::noinline]] void answer(std::uint64_t number) {
    const std::string text = "GET /thumbnail/" + std::to_string(number) +
                             "\nHost: thumbnails.example\nAccept: image/webp, image/png, image/jpeg;q=0.8\n";
    const Request request = parser_.parse(text, number);
    thumbnails_.insert(number % 1000);
    if (number % 4 == 0) sessions_.remember(request.client);
  }

 private:
  RequestParser parser_;
  ThumbnailCache thumbnails_;
  SessionStore sessions_;
};

/// Answers about a thousand requests a second until `stop` is set.
void worker(Service& service, const std::atomic<bool>& stop, std::atomic<std::uint64_t>& next) {
  while (!stop) {
    service.answer(next++);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

/// Blocks the signals that end the service in this thread and in those it starts.
sigset_t block_end_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

}  // namespace

int main() {
  const sigset_t end_signals = block_end_signals();
  Service service;
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> next{0};
  std::vector<std::thread> workers;
  for (int i = 0; i < 3; ++i) workers.emplace_back(worker, std::ref(service), std::cref(stop), std::ref(next));
  std::puts("sample-service: ready");
  std::fflush(stdout);
  int received = 0;
  sigwait(&end_signals, &received);
  stop = true;
  for (std::thread& thread : workers) thread.join();
  return 0;
}
