#include "userspace/commands/folded_functions.h"

#include <gtest/gtest.h>

#include <string>

namespace hawk {
namespace {

TEST(FoldedFunctions, AreThoseOfAllocatorsAndLibrariesByDefault) {
  const RoleOfFunction role_of = folded_functions(std::nullopt);
  EXPECT_EQ(role_of("zmalloc"), FrameRole::kAllocator);
  EXPECT_EQ(role_of("std::vector<int>::reserve(unsigned long)"), FrameRole::kLibrary);
  EXPECT_EQ(role_of("Pool::get(int)"), FrameRole::kProgram);
}

TEST(FoldedFunctions, AreWhatThePatternMatchesInTheNameAsShownToo) {
  const RoleOfFunction role_of = folded_functions("^Pool::|_get$");
  EXPECT_EQ(role_of("void Pool::get<std::string>(int) const"), FrameRole::kLibrary);
  EXPECT_EQ(role_of("buffer_get"), FrameRole::kLibrary);
  EXPECT_EQ(role_of("CarPool::get(int)"), FrameRole::kProgram);
  EXPECT_EQ(role_of("serve(buffer_get)"), FrameRole::kProgram) << "parameters are not shown";
  EXPECT_EQ(role_of("zmalloc"), FrameRole::kAllocator) << "the pattern adds to what is folded";
  EXPECT_EQ(role_of(std::string(1 << 20, 'x') + "_get"), FrameRole::kProgram);
}

}  // namespace
}  // namespace hawk
