#include "userspace/base/lazy_function.h"

#include <gtest/gtest.h>

#include <memory>
#include <string_view>

#include "userspace/base/owned.h"

namespace hawk {
namespace {

int looked_up = 0;
int freed = 0;

long twice(int number) { return 2L * number; }
void release(void* /*owned*/) { ++freed; }

void* find(const char* name) {
  ++looked_up;
  return std::string_view(name) == "twice" ? reinterpret_cast<void*>(twice) : reinterpret_cast<void*>(release);
}

inline LazyFunction<decltype(twice), find> lazy_twice{"twice"};
inline LazyFunction<decltype(release), find> lazy_release{"release"};

TEST(LazyFunction, IsLookedUpWhenItIsFirstCalled) {
  looked_up = 0;
  EXPECT_EQ(lazy_twice(21), 42);
  EXPECT_EQ(lazy_twice(-1), -2);
  EXPECT_EQ(looked_up, 1);
}

TEST(LazyFunction, Deletes) {
  int owned = 0;
  freed = 0;
  { const std::unique_ptr<int, Freer<lazy_release>> owner(&owned); }
  EXPECT_EQ(freed, 1);
}

TEST(LazyFunction, IsFoundInALibraryOrInOneThatThatNeeds) {
  using Cosine = double (*)(double);
  const auto cosine = reinterpret_cast<Cosine>(function_in_library("libm.so.6", "libc6", "cos"));
  EXPECT_EQ(cosine(0), 1);
  EXPECT_NE(function_in_library("libm.so.6", "libc6", "strlen"), nullptr);
}

TEST(LazyFunctionDeathTest, EndsTheProgramWithAMessageWithoutTheLibrary) {
  EXPECT_EXIT(function_in_library("libhawktrace-none.so.1", "none1", "work"), ::testing::ExitedWithCode(6),
              "hawktrace: load work from libhawktrace-none.so.1: .*\nhint: install Debian's package none1");
  EXPECT_EXIT(function_in_library("libm.so.6", "libc6", "hawktrace_none"), ::testing::ExitedWithCode(6),
              "hawktrace: load hawktrace_none from libm.so.6: .*undefined symbol");
}

}  // namespace
}  // namespace hawk
