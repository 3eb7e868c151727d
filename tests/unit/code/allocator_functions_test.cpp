#include "userspace/code/allocator_functions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/support/elf_fixture.h"
#include "userspace/code/allocator_catalogue.h"

namespace hawk {
namespace {

using Names = std::vector<std::string>;

const AllocatorFunction* find(const AllocatorFile& file, const std::string& name) {
  for (const AllocatorFunction& function : file.functions) {
    if (std::find(function.names.begin(), function.names.end(), name) != function.names.end()) return &function;
  }
  return nullptr;
}

/// The same source linked in three ways, which must make no difference.
class AllocatorFunctions : public ::testing::TestWithParam<const char*> {
 protected:
  const ElfImage image = testing::open_image(testing::fixture_path(GetParam()));
  const AllocatorFile file = find_allocator_functions(image);
};

INSTANTIATE_TEST_SUITE_P(Linked, AllocatorFunctions,
                         ::testing::Values("allocator.so", "allocator_ibt.so", "allocator_sysv.so"),
                         [](const auto& instance) {
                           std::string name = instance.param;
                           return name.substr(0, name.find('.'));
                         });

TEST_P(AllocatorFunctions, ProbesEachAddressOnceUnderAllItsNames) {
  std::vector<Names> probed;
  for (const AllocatorFunction& function : file.functions) probed.push_back(function.names);
  const std::vector<Names> expected = {
      {"__libc_malloc", "malloc"}, {"_ZdlPv", "cfree", "free"}, {"_ZdaPvm"}, {"_Znwm"}, {"_ZnwmRKSt9nothrow_t"}};
  EXPECT_EQ(probed, expected);
}

TEST_P(AllocatorFunctions, AFreeThatOnlyPassesOnIsNotProbed) {
  for (const char* name : {"free_sized", "free_aligned_sized", "_ZdlPvm", "_ZdaPv"}) {
    EXPECT_EQ(find(file, name), nullptr) << name;
  }
}

TEST_P(AllocatorFunctions, KindIsThatOfTheCName) {
  EXPECT_EQ(find(file, "_ZdlPv")->kind, HAWK_CALL_FREE);
  EXPECT_EQ(find(file, "malloc")->kind, HAWK_CALL_MALLOC);
  EXPECT_FALSE(find(file, "malloc")->may_throw);
}

TEST_P(AllocatorFunctions, ReturnsOfAThrowingOperatorIncludeThoseOfItsSlowHalf) {
  const AllocatorFunction* function = find(file, "_Znwm");
  ASSERT_NE(function, nullptr);
  EXPECT_TRUE(function->may_throw);
  ASSERT_EQ(function->return_offsets.size(), 2u);
  for (const std::uint64_t offset : function->return_offsets) {
    const std::span<const std::uint8_t> code = image.code_at(*image.vaddr_of(offset), 1);
    ASSERT_EQ(code.size(), 1u);
    EXPECT_EQ(code[0], 0xc3);
  }
  const FunctionExtent fast = testing::extent_of(image, "_Znwm");
  EXPECT_LT(*image.vaddr_of(function->return_offsets[0]), fast.vaddr + fast.size_bytes);
  EXPECT_GE(*image.vaddr_of(function->return_offsets[1]), fast.vaddr + fast.size_bytes);
}

TEST_P(AllocatorFunctions, ANothrowOperatorNeedsNoReturns) {
  EXPECT_FALSE(find(file, "_ZnwmRKSt9nothrow_t")->may_throw);
  EXPECT_TRUE(find(file, "_ZnwmRKSt9nothrow_t")->return_offsets.empty());
}

TEST_P(AllocatorFunctions, WhatCannotBeProbedIsNamedWithItsReason) {
  std::map<std::string, std::string> reasons;
  for (const UnprobedFunction& function : file.unprobed) reasons[function.name] = function.reason;
  const std::map<std::string, std::string> expected = {
      {"_ZnwmSt11align_val_t", "it jumps to an address that is known only at run time"},
      {"_ZnamSt11align_val_t", "it continues in somewhere_else, which is in another file"},
      {"calloc", "functions of different kinds share its address"},
      {"realloc", "functions of different kinds share its address"}};
  EXPECT_EQ(reasons, expected);
}

std::vector<Names> probed_in(const std::string& fixture) {
  const AllocatorFile file = find_allocator_functions(testing::open_image(testing::fixture_path(fixture)));
  EXPECT_TRUE(file.unprobed.empty());
  std::vector<Names> probed;
  for (const AllocatorFunction& function : file.functions) probed.push_back(function.names);
  std::sort(probed.begin(), probed.end());
  return probed;
}

/// What takes a block back is probed wherever that goes, but once.
TEST(AllocatorFunctionsOfFile, OperatorsWithAPoolOfTheirOwnAreProbed) {
  EXPECT_EQ(probed_in("own_operators.so"), (std::vector<Names>{{"_ZdlPv"}, {"_ZdlPvm"}, {"_Znwm"}}));
}

TEST(AllocatorFunctionsOfFile, OperatorsWhoseBlocksAreMallocsAreNoAllocator) {
  EXPECT_TRUE(probed_in("own_operators_forward.so").empty());
}

/// What is passed on is another pointer than the one that the program was given.
TEST(AllocatorFunctionsOfFile, AFreeThatPassesOnAHeaderIsProbed) {
  EXPECT_EQ(probed_in("headers.so"), (std::vector<Names>{{"free"}, {"malloc"}}));
  EXPECT_EQ(probed_in("headers_own_new.so"), (std::vector<Names>{{"_ZdlPv"}, {"_Znwm"}, {"free"}, {"malloc"}}));
}

TEST(AllocatorFunctionsOfFile, OperatorsAloneAreNoAllocator) {
  const AllocatorFile file = find_allocator_functions(testing::open_image(testing::fixture_path("operators.so")));
  EXPECT_TRUE(file.functions.empty());
  EXPECT_TRUE(file.unprobed.empty());
}

TEST(AllocatorFunctionsOfFile, AStaticProgramHasItsAllocatorInSymtab) {
  const AllocatorFile file = find_allocator_functions(testing::open_image(testing::fixture_path("static_program")));
  for (const char* name : {"malloc", "free", "calloc", "realloc", "__libc_malloc", "__libc_free"}) {
    EXPECT_NE(find(file, name), nullptr) << name;
  }
}

TEST(AllocatorCatalogue, NamesAreUniqueAndHaveAKind) {
  std::set<std::string_view> seen;
  for (const auto& [name, hash] : catalogue_names().entries()) {
    EXPECT_TRUE(seen.insert(name).second) << name;
    ASSERT_TRUE(find_in_catalogue(name).has_value()) << name;
    EXPECT_NE(find_in_catalogue(name)->kind, HAWK_CALL_NONE) << name;
  }
  for (const auto& [name, hash] : operator_new_names().entries()) EXPECT_TRUE(seen.contains(name)) << name;
  EXPECT_FALSE(find_in_catalogue("malloc_usable_size"));
  EXPECT_FALSE(find_in_catalogue("nallocx"));
}

/// Each turn of the loop would look like a call with other arguments.
TEST(AllocatorFunctionsThatBeginAgain, HaveNoPlanAndNoProbeThatCannotTell) {
  const ElfImage image = testing::open_image(testing::fixture_path("begins_again.so"));
  const AllocatorFile file = find_allocator_functions(image, Plans::kMade);
  for (const char* name : {"malloc", "valloc"}) {
    const AllocatorFunction* const function = find(file, name);
    ASSERT_NE(function, nullptr) << name;
    EXPECT_EQ(function->yields.fallback, "its first instruction may be executed again in the same call") << name;
  }
  std::set<std::string> unprobed;
  for (const auto& missing : file.unprobed) {
    unprobed.insert(missing.name);
    EXPECT_EQ(missing.reason, "its first instruction may be executed several times in a call");
  }
  EXPECT_EQ(unprobed, (std::set<std::string>{"_ZdlPv", "_Znwm", "free"}));
  ASSERT_NE(find(file, "aligned_alloc"), nullptr);
  EXPECT_EQ(find(file, "aligned_alloc")->yields.fallback.find("first instruction"), std::string::npos);
}

}  // namespace
}  // namespace hawk
