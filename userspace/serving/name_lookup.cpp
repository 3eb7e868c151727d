#include "userspace/serving/name_lookup.h"

#include <netdb.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>

#include "userspace/base/owned.h"
#include "userspace/base/threads.h"
#include "userspace/base/unique_fd.h"

namespace hawk {
namespace {

/// What the thread and the loop share; whichever ends last destroys it.
struct Lookup {
  UniqueFd done{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::mutex mutex;
  std::vector<HostAddress> addresses;
  std::string failure;
};

void find_addresses(Lookup& lookup, const std::string& host, std::uint16_t port) {
  addrinfo hints = {};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
  const std::unique_ptr<addrinfo, Freer<::freeaddrinfo>> owned(list);
  const std::lock_guard lock(lookup.mutex);
  if (error != 0) lookup.failure = ::gai_strerror(error);
  for (const addrinfo* found = list; error == 0 && found != nullptr; found = found->ai_next) {
    HostAddress address;
    address.length = static_cast<socklen_t>(std::min<std::size_t>(found->ai_addrlen, sizeof(address.bytes)));
    std::memcpy(&address.bytes, found->ai_addr, address.length);
    lookup.addresses.push_back(address);
  }
}

/// The end of the loop's interest.
class Interest {
 public:
  Interest(EventLoop& loop, std::shared_ptr<Lookup> lookup) : loop_(loop), lookup_(std::move(lookup)) {}
  Interest(const Interest&) = delete;
  Interest& operator=(const Interest&) = delete;
  ~Interest() { loop_.forget(lookup_->done.get()); }

 private:
  EventLoop& loop_;
  std::shared_ptr<Lookup> lookup_;
};

}  // namespace

std::shared_ptr<void> look_up(EventLoop& loop, const std::string& host, std::uint16_t port,
                              std::function<void(std::vector<HostAddress> addresses, std::string failure)> done) {
  auto lookup = std::make_shared<Lookup>();
  loop.watch(lookup->done.get(), [lookup, &loop, done = std::move(done)](short) -> Result<void> {
    loop.forget(lookup->done.get());
    std::vector<HostAddress> addresses;
    std::string failure;
    {
      const std::lock_guard lock(lookup->mutex);
      addresses = std::move(lookup->addresses);
      failure = std::move(lookup->failure);
    }
    done(std::move(addresses), std::move(failure));
    return {};
  });
  const auto say_done = [](const Lookup& of) {
    const std::uint64_t one = 1;
    return ::write(of.done.get(), &one, sizeof(one)) == sizeof(one);
  };
  std::jthread thread = try_thread([lookup, host, port, say_done] {
    find_addresses(*lookup, host, port);
    say_done(*lookup);
  });
  if (thread.joinable()) {
    thread.detach();
  } else {
    lookup->failure = "there is no thread for it";
    say_done(*lookup);
  }
  return std::make_shared<Interest>(loop, std::move(lookup));
}

}  // namespace hawk
