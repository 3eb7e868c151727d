// Several targets of one set of programs: siblings by fork, whose heaps lie at the same addresses.
#include "userspace/tracer/engine.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <vector>

#include "tests/kernel/harness/engine_world.h"
#include "tests/kernel/harness/kernel_test.h"
#include "userspace/tracer/tracer.h"

namespace hawk {
namespace {

constexpr std::size_t kMostBlocks = 4096;

/// What a sibling shall do next, and where its blocks are.
struct Orders {
  std::size_t count = 0;  ///< blocks to allocate
  std::size_t bytes = 0;  ///< of each
  std::size_t freed = 0;  ///< so many of them are given back, the first ones
  std::array<std::uintptr_t, kMostBlocks> addresses{};
};

/// A process that is forked here and executes commands.
class Sibling {
 public:
  Sibling() {
    void* shared = ::mmap(nullptr, sizeof(Orders), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    orders_ = new (shared) Orders();
    EXPECT_EQ(::pipe(begin_.data()), 0);
    EXPECT_EQ(::pipe(done_.data()), 0);
    pid_ = ::fork();
    if (pid_ == 0) serve();
  }
  Sibling(const Sibling&) = delete;
  Sibling& operator=(const Sibling&) = delete;
  ~Sibling() {
    for (const int fd : {begin_[0], begin_[1], done_[0], done_[1]}) ::close(fd);
    ::waitpid(pid_, nullptr, 0);
    ::munmap(orders_, sizeof(Orders));
  }

  int pid() const { return pid_; }
  const Orders& orders() const { return *orders_; }
  void allocate(std::size_t count, std::size_t bytes, std::size_t freed) {
    orders_->count = count;
    orders_->bytes = bytes;
    orders_->freed = freed;
    char byte = 1;
    EXPECT_EQ(::write(begin_[1], &byte, 1), 1);
    EXPECT_EQ(::read(done_[0], &byte, 1), 1);
  }

 private:
  /// Calls nothing that allocates but malloc itself.
  [[noreturn]] void serve() {
    ::close(begin_[1]);
    for (char byte = 0; ::read(begin_[0], &byte, 1) == 1;) {
      for (std::size_t i = 0; i < orders_->count; ++i)
        orders_->addresses[i] = reinterpret_cast<std::uintptr_t>(std::malloc(orders_->bytes));
      for (std::size_t i = 0; i < orders_->freed; ++i)
        std::free(reinterpret_cast<void*>(orders_->addresses[i]));  // NOLINT(performance-no-int-to-ptr)
      if (::write(done_[1], &byte, 1) != 1) break;
    }
    ::_exit(0);
  }

  Orders* orders_ = nullptr;
  std::array<int, 2> begin_{}, done_{};
  int pid_ = -1;
};

std::size_t shared_addresses(const Sibling& a, const Sibling& b) {
  std::size_t same = 0;
  for (std::size_t i = 0; i < kMostBlocks; ++i)
    same += a.orders().addresses[i] != 0 && a.orders().addresses[i] == b.orders().addresses[i] ? 1 : 0;
  return same;
}

constexpr Way kAllWays[] = {Way::kSessionArena, Way::kSessionHash, Way::kMultiArena, Way::kMultiHash, Way::kPerfHash};

KERNEL_TEST_ON(engine, targets_with_the_same_addresses, kAllWays) {
  const TestEngine test(way);
  const Library library;
  Sibling first, second;
  std::optional<Tracer> a(library.trace(*test.engine, first.pid(), test.features.pid_filter));
  Tracer b = library.trace(*test.engine, second.pid(), test.features.pid_filter);
  first.allocate(4000, 100, 1500);
  second.allocate(3000, 60, 3000);
  second.allocate(2000, 100, 500);
  EXPECT_GT(shared_addresses(first, second), 0U) << "or nothing is shown";
  a->stop();
  std::vector<Drained> drained = test.engine->drain();
  EXPECT_EQ(totals(drained[a->number()]), (Counters{400'000, 4000, 150'000, 1500}));
  EXPECT_EQ(totals(drained[b.number()]), (Counters{380'000, 5000, 230'000, 3500}));
  for (const Drained& of_one : drained) EXPECT_EQ(of_one.losses.total(), 0U);
  EXPECT_EQ(a->verify(drained[a->number()].counters), true);

  // The one goes, and another takes its place; the second has lost nothing by it.
  const std::uint32_t place = a->number();
  a.reset();
  first.allocate(100, 100, 0);
  Sibling third;
  Tracer c = library.trace(*test.engine, third.pid(), test.features.pid_filter);
  EXPECT_EQ(c.number(), place);
  third.allocate(700, 100, 200);
  second.allocate(10, 1000, 5);
  b.stop();
  c.stop();
  drained = test.engine->drain();
  EXPECT_EQ(totals(drained[c.number()]), (Counters{70'000, 700, 20'000, 200}));
  EXPECT_EQ(totals(drained[b.number()]), (Counters{390'000, 5010, 235'000, 3505}));
  for (const Drained& of_one : drained) EXPECT_EQ(of_one.losses.total(), 0U);
  EXPECT_EQ(b.verify(drained[b.number()].counters), true);
  EXPECT_EQ(c.verify(drained[c.number()].counters), true);
  test.engine->stop();
}

}  // namespace
}  // namespace hawk
