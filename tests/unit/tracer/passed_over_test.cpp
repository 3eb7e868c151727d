#include "userspace/tracer/passed_over.h"

#include <gtest/gtest.h>

#include <map>

namespace hawk {
namespace {

class PassedOverTest : public testing::Test {
 protected:
  std::map<int, std::uint64_t> counts_ = {{3, 0}, {4, 0}};
  PassedOver passed_over_{[this](int program) {
    const auto found = counts_.find(program);
    return found != counts_.end() ? std::optional(found->second) : std::nullopt;
  }};
};

TEST_F(PassedOverTest, WhatIsNewIsTakenOnce) {
  passed_over_.watch(3, "thread_exit");
  passed_over_.watch(4, "process_fork");
  EXPECT_EQ(passed_over_.take(), 0U);
  counts_[3] = 7;
  counts_[4] = 2;
  EXPECT_EQ(passed_over_.take(), 9U);
  EXPECT_EQ(passed_over_.take(), 0U);
  counts_[4] = 3;
  EXPECT_EQ(passed_over_.take(), 1U);
}

TEST_F(PassedOverTest, WhatCameBeforeDoesNotCount) {
  counts_[3] = 5;
  passed_over_.watch(3, "thread_exit");
  EXPECT_EQ(passed_over_.take(), 0U);
}

TEST_F(PassedOverTest, WhatTheKernelDoesNotSayOnceIsTakenLater) {
  passed_over_.watch(3, "thread_exit");
  counts_[3] = 4;
  const auto hidden = counts_.extract(3);
  EXPECT_EQ(passed_over_.take(), 0U);
  counts_[3] = 6;
  EXPECT_EQ(passed_over_.take(), 6U);
}

}  // namespace
}  // namespace hawk
