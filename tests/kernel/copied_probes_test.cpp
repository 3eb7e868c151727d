// Processes that a target makes and that are not traced do not pay for its probes forever.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tests/kernel/harness/engine_world.h"
#include "tests/kernel/harness/kernel_test.h"

namespace hawk {
namespace {

constexpr Way kMultiWays[] = {Way::kSessionArena, Way::kMultiArena, Way::kMultiHash};
constexpr std::size_t kCodeBytes = 64;
using Code = std::array<unsigned char, kCodeBytes>;

Code code_of_malloc() {
  Code code{};
  std::memcpy(code.data(), reinterpret_cast<const void*>(&::malloc), code.size());
  return code;
}

void allocate(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    void* volatile block = std::malloc(100);
    static_cast<void>(block);
  }
}

/// A process that is a copy of this one, and its child, which is one too. Both say at each word what their code is.
class Family {
 public:
  Family() {
    for (auto* channel : {&to_parent_, &from_parent_, &to_child_, &from_child_}) EXPECT_EQ(::pipe(channel->data()), 0);
    pid_ = ::fork();
    if (pid_ == 0) serve_as_parent();
  }
  Family(const Family&) = delete;
  Family& operator=(const Family&) = delete;
  ~Family() {
    for (auto* channel : {&to_parent_, &from_parent_, &to_child_, &from_child_}) {
      ::close((*channel)[0]);
      ::close((*channel)[1]);
    }
    ::waitpid(pid_, nullptr, 0);
  }

  int pid() const { return pid_; }
  /// After a hundred calls of malloc; the first word makes it fork.
  Code parent() { return ask(to_parent_, from_parent_); }
  Code child() { return ask(to_child_, from_child_); }

 private:
  using Channel = std::array<int, 2>;

  static Code ask(const Channel& to, const Channel& from) {
    const char word = 1;
    Code code{};
    EXPECT_EQ(::write(to[1], &word, 1), 1);
    EXPECT_EQ(::read(from[0], code.data(), code.size()), static_cast<ssize_t>(code.size()));
    return code;
  }

  static void serve(const Channel& to, const Channel& from) {
    for (char word = 0; ::read(to[0], &word, 1) == 1;) {
      allocate(100);
      const Code code = code_of_malloc();
      if (::write(from[1], code.data(), code.size()) != static_cast<ssize_t>(code.size())) break;
    }
  }

  [[noreturn]] void serve_as_parent() {
    ::close(to_parent_[1]);
    ::close(to_child_[1]);
    char word = 0;
    if (::read(to_parent_[0], &word, 1) != 1) ::_exit(0);
    const int child = ::fork();
    if (child == 0) {
      serve(to_child_, from_child_);
      ::_exit(0);
    }
    const Code code = code_of_malloc();
    if (::write(from_parent_[1], code.data(), code.size()) > 0) serve(to_parent_, from_parent_);
    ::waitpid(child, nullptr, 0);
    ::_exit(0);
  }

  Channel to_parent_{}, from_parent_{}, to_child_{}, from_child_{};
  int pid_ = -1;
};

KERNEL_TEST_ON(copied_probes, go_from_children_that_are_not_traced, kMultiWays) {
  const Code untouched = code_of_malloc();
  const TestEngine test(way);
  const Library library;
  Family family;
  Tracer tracer = library.trace(*test.engine, family.pid(), true);
  const Code probed = family.parent();
  ASSERT_NE(probed, untouched);
  EXPECT_EQ(family.child(), probed) << "it is a copy";
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatienceMs);
  Drained drained;
  for (bool is_free = false; !is_free; is_free = family.child() == untouched) {
    ASSERT_LT(std::chrono::steady_clock::now(), end);
    drained = test.engine->drain()[tracer.number()];
    ::poll(nullptr, 0, 1);
  }
  EXPECT_EQ(family.parent(), probed) << "the target keeps its own";
  drained = test.engine->drain()[tracer.number()];
  EXPECT_EQ(totals(drained), (Counters{100 * 100, 100, 0, 0}));
  EXPECT_EQ(drained.losses[HAWK_LOSS_UNTRACED_CHILD], 1U);
  tracer.stop();
  test.engine->stop();
}

}  // namespace
}  // namespace hawk
