// The traced service: clients' threads come and go, workers parse requests, look into a cache and render replies, a
// writer sends them, and one thread refreshes the cache all the time. All of C++'s ways to the allocator are on its
// path.
//
// It says "serving", and after each byte on its standard input, once a round of clients has been served, "served".
#include <malloc.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

/// Not an unnamed namespace: the report shows these functions by name.
namespace real {

constexpr int kClients = 4;
constexpr int kRequestsPerClient = 200;
constexpr int kWorkers = 3;

void check(bool holds, const char* what) {
  if (holds) return;
  dprintf(STDERR_FILENO, "service: %s\n", what);
  std::abort();
}

/// Grows with realloc; gives room back when it shrinks.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Buffer&& other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Buffer& operator=(Buffer&&) = delete;
  ~Buffer() { std::free(data_); }

  void append(const std::string& text) {
    resize(size_ + text.size());
    std::memcpy(data_ + size_ - text.size(), text.data(), text.size());
  }

  void resize(std::size_t size) {
    char* moved = static_cast<char*>(std::realloc(data_, size));
    if (!moved && size > 0) throw std::bad_alloc();
    data_ = moved;
    size_ = size;
  }

  std::size_t size() const { return size_; }

 private:
  char* data_ = nullptr;
  std::size_t size_ = 0;
};

struct Request {
  std::string path;
  std::unordered_map<std::string, std::string> query;
  std::vector<std::pair<std::string, std::string>> headers;
};

struct BadRequest : std::runtime_error {
  using std::runtime_error::runtime_error;
};

[[noreturn]] [[gnu::noinline]] void refuse(const std::string& text) {
  throw BadRequest("not a request, whatever else it is: " + text);
}

void parse_query(const std::string& text, Request& into) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('&', at), text.size());
    const std::size_t equals = text.find('=', at);
    if (equals >= end) refuse(text);
    into.query[text.substr(at, equals - at)] = text.substr(equals + 1, end - equals - 1);
    at = end + 1;
  }
}

[[gnu::noinline]] Request parse_request(const std::string& text) {
  Request request;
  const std::size_t line_end = text.find('\n');
  if (!text.starts_with("GET /") || line_end == std::string::npos) refuse(text);
  const std::string target = text.substr(4, line_end - 4);
  const std::size_t question = target.find('?');
  request.path = target.substr(0, question);
  if (question != std::string::npos) parse_query(target.substr(question + 1), request);
  for (std::size_t at = line_end + 1; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::size_t colon = text.find(": ", at);
    if (colon >= end) refuse(text);
    request.headers.emplace_back(text.substr(at, colon - at), text.substr(colon + 2, end - colon - 2));
    at = end + 1;
  }
  return request;
}

/// Over-aligned, so that new goes by aligned_alloc.
struct alignas(128) Page {
  std::array<std::uint64_t, 64> words{};
};

/// Memory from every other function of the allocator.
class Arena {
 public:
  [[gnu::noinline]] void page(std::size_t bytes) {
    void* block = nullptr;
    check(posix_memalign(&block, 256, bytes) == 0, "posix_memalign");
    blocks_.push_back(block);
    check(posix_memalign(&block, 24, bytes) != 0, "an alignment of 24 was accepted");
    blocks_.push_back(aligned_alloc(64, bytes));
    blocks_.push_back(memalign(32, bytes));
    blocks_.push_back(valloc(bytes));
    blocks_.push_back(pvalloc(bytes));
    blocks_.push_back(calloc(bytes, 3));
    blocks_.push_back(reallocarray(blocks_.back(), bytes, 9));
    blocks_.erase(blocks_.end() - 2);
    // More than there can be. The compiler is not to know.
    static volatile std::size_t too_many = SIZE_MAX / 16;
    check(!reallocarray(blocks_.back(), too_many, 17) && !realloc(blocks_.back(), 8 * too_many), "endless memory");
    blocks_.push_back(strdup("a string that the C library makes"));
  }

  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena() {
    for (void* block : blocks_) std::free(block);
  }

 private:
  std::vector<void*> blocks_;
};

struct Entry {
  std::string text;
  std::unique_ptr<Page> page = std::make_unique<Page>();
  std::unique_ptr<Page[]> more{new (std::nothrow) Page[2]};
};

/// The least recently used entries go first.
class Cache {
 public:
  std::shared_ptr<const Entry> get(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(key);
    if (found == entries_.end()) return nullptr;
    recent_.splice(recent_.begin(), recent_, found->second);
    return found->second->second;
  }

  [[gnu::noinline]] void put(const std::string& key, std::string text) {
    auto entry = std::make_shared<Entry>();
    entry->text = std::move(text);
    const std::lock_guard lock(mutex_);
    if (const auto found = entries_.find(key); found != entries_.end()) {
      found->second->second = std::move(entry);
      return;
    }
    recent_.emplace_front(key, std::move(entry));
    entries_[key] = recent_.begin();
    if (entries_.size() <= kCapacity) return;
    entries_.erase(recent_.back().first);
    recent_.pop_back();
  }

 private:
  static constexpr std::size_t kCapacity = 300;
  using Recent = std::list<std::pair<std::string, std::shared_ptr<const Entry>>>;

  std::mutex mutex_;
  Recent recent_;
  std::unordered_map<std::string, Recent::iterator> entries_;
};

template <typename Item>
class Queue {
 public:
  void push(Item item) {
    {
      const std::lock_guard lock(mutex_);
      items_.push_back(std::move(item));
    }
    changed_.notify_one();
  }

  Item pop() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !items_.empty(); });
    Item item = std::move(items_.front());
    items_.pop_front();
    return item;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> items_;
};

struct Reply {
  Buffer body;
  std::shared_ptr<const Entry> entry;
};

/// What a client waits for: its requests, answered or refused.
class Countdown {
 public:
  explicit Countdown(int count) : left_(count) {}
  void one_less() {
    const std::lock_guard lock(mutex_);
    if (--left_ == 0) done_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return left_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable done_;
  int left_;
};

struct Job {
  std::string text;
  std::shared_ptr<Countdown> client;
};

struct Delivery {
  std::shared_ptr<const Reply> reply;
  std::shared_ptr<Countdown> client;
};

class Service {
 public:
  /// Its threads never end; neither does it.
  void start() {
    for (int i = 0; i < kWorkers; i++) std::thread([this] { work_forever(); }).detach();
    std::thread([this] { write_forever(); }).detach();
    std::thread([this] { refresh_forever(); }).detach();
  }

  void serve_round() {
    round_++;
    std::vector<std::thread> clients;
    for (int i = 0; i < kClients; i++) clients.emplace_back([this, i] { be_client(i); });
    for (std::thread& client : clients) client.join();
  }

 private:
  void be_client(int number) {
    const auto countdown = std::make_shared<Countdown>(kRequestsPerClient);
    Arena arena;
    for (int i = 0; i < kRequestsPerClient; i++) {
      if (i % 50 == 0) arena.page(static_cast<std::size_t>(64 * (i + 1)));
      jobs_.push({request_text(number * kRequestsPerClient + i), countdown});
    }
    countdown->wait();
  }

  std::string request_text(int number) const {
    if (number % 17 == 0) return "POST of something with number " + std::to_string(number);
    std::string text = "GET /items/" + std::to_string(number * 7 % 500) + "?round=" + std::to_string(round_);
    for (int i = 0; i < number % 5; i++)
      text += "&option_with_a_long_name_" + std::to_string(i) + "=" + std::string(i, 'v');
    text += "\nHost: a.host.with.a.long.name.example\nAccept: text/plain, application/json\n";
    return text;
  }

  void work_forever() {
    while (true) {
      Job job = jobs_.pop();
      try {
        deliveries_.push({render(parse_request(job.text)), job.client});
      } catch (const BadRequest&) {
        job.client->one_less();
      }
    }
  }

  [[gnu::noinline]] std::shared_ptr<const Reply> render(const Request& request) {
    auto reply = std::make_shared<Reply>();
    reply->entry = cache_.get(request.path);
    if (!reply->entry) {
      cache_.put(request.path, "made for " + request.path);
      reply->entry = cache_.get(request.path);
    }
    for (const auto& [name, value] : request.headers) reply->body.append(name + "=" + value + "\n");
    for (const auto& [name, value] : request.query) reply->body.append(name + "=" + value + "\n");
    if (reply->body.size() % 3 == 0) reply->body.resize(reply->body.size() / 3);
    return reply;
  }

  /// The last owner of most replies, and of entries that the cache has dropped in the meantime.
  void write_forever() {
    while (true) {
      const Delivery delivery = deliveries_.pop();
      written_ += delivery.reply->body.size();
      delivery.client->one_less();
    }
  }

  [[gnu::noinline]] void refresh_forever() {
    for (unsigned i = 0;; i++) {
      const std::string key = "/items/" + std::to_string(i % 500);
      Page sum;
      for (unsigned k = 0; k < 20'000; k++) sum.words[k % 64] += k * i + sum.words[(k + 1) % 64];
      if (const std::shared_ptr<const Entry> entry = cache_.get(key)) {
        cache_.put(key, entry->text.substr(0, 40) + " " + std::to_string(sum.words[7]));
      }
    }
  }

  Queue<Job> jobs_;
  Queue<Delivery> deliveries_;
  Cache cache_;
  int round_ = 0;
  std::atomic<std::uint64_t> written_ = 0;
};

void say(const char* line) { check(write(STDOUT_FILENO, line, std::strlen(line)) > 0, "standard output is closed"); }

}  // namespace real

int main() {
  real::Service service;
  service.start();
  real::say("serving\n");
  for (char byte = 0; read(STDIN_FILENO, &byte, 1) == 1;) {
    service.serve_round();
    real::say("served\n");
  }
  _exit(0);  // its threads still use what main's end would destroy
}
