#include "userspace/base/unique_fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <utility>

namespace hawk {
namespace {

bool is_open(int fd) { return ::fcntl(fd, F_GETFD) != -1; }

int open_something() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }

TEST(UniqueFd, DefaultOwnsNothing) {
  const UniqueFd none;
  EXPECT_FALSE(none);
  EXPECT_EQ(none.get(), -1);
}

TEST(UniqueFd, DescriptorZeroIsOwned) {
  UniqueFd zero(0);
  EXPECT_TRUE(zero);
  EXPECT_EQ(zero.release(), 0);
}

TEST(UniqueFd, ClosesAtTheEndOfItsScope) {
  const int raw = open_something();
  {
    const UniqueFd fd(raw);
    EXPECT_TRUE(is_open(raw));
  }
  EXPECT_FALSE(is_open(raw));
}

TEST(UniqueFd, MoveConstructionLeavesNothingBehind) {
  UniqueFd from(open_something());
  const int raw = from.get();
  const UniqueFd to(std::move(from));
  EXPECT_EQ(to.get(), raw);
  EXPECT_EQ(from.get(), -1);  // NOLINT(bugprone-use-after-move): the state after the move is the subject
}

TEST(UniqueFd, MoveAssignmentLosesNeitherDescriptor) {
  const int first = open_something();
  const int second = open_something();
  {
    UniqueFd target(first);
    {
      UniqueFd source(second);
      target = std::move(source);
    }
    EXPECT_EQ(target.get(), second);
    EXPECT_TRUE(is_open(second));
    EXPECT_FALSE(is_open(first));
  }
  EXPECT_FALSE(is_open(second));
}

TEST(UniqueFd, ReleaseGivesUpWithoutClosing) {
  UniqueFd fd(open_something());
  const int raw = fd.release();
  EXPECT_FALSE(fd);
  EXPECT_TRUE(is_open(raw));
  ::close(raw);
}

TEST(UniqueFd, ResetClosesOnce) {
  UniqueFd fd(open_something());
  const int raw = fd.get();
  fd.reset();
  EXPECT_FALSE(fd);
  EXPECT_FALSE(is_open(raw));
  fd.reset();
}

}  // namespace
}  // namespace hawk
