#include "userspace/code/ifunc.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/support/elf_fixture.h"
#include "userspace/code/allocator_functions.h"

namespace hawk {
namespace {

class Ifunc : public ::testing::Test {
 protected:
  const ElfImage image = testing::open_image(testing::fixture_path("ifunc.so"));
  BranchTargets resolver{image};

  std::optional<std::vector<std::uint64_t>> candidates_of(const char* name) {
    return ifunc_candidates(resolver, testing::extent_of(image, name));
  }
  std::vector<std::uint64_t> at(const std::vector<const char*>& names) {
    std::set<std::uint64_t> vaddrs;
    for (const char* name : names) vaddrs.insert(testing::extent_of(image, name).vaddr);
    return {vaddrs.begin(), vaddrs.end()};
  }
};

TEST_F(Ifunc, SymbolsAreNotTheFunctionsThatTheyStandFor) {
  static constexpr std::string_view kName = "malloc";
  const std::vector<ElfFunction> found = image.functions(std::span(&kName, 1));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].is_resolver);
}

TEST_F(Ifunc, EveryBranchOfAResolverCounts) {
  const auto candidates = candidates_of("malloc");
  ASSERT_TRUE(candidates.has_value());
  EXPECT_EQ(candidates->size(), 2u);
  const std::uint64_t exported = testing::extent_of(image, "exported_free").vaddr;
  EXPECT_EQ(*candidates, (std::vector<std::uint64_t>{exported + 1, exported + 2}));
}

TEST_F(Ifunc, AConditionalMoveLeavesBoth) {
  const auto candidates = candidates_of("calloc");
  const std::uint64_t exported = testing::extent_of(image, "exported_free").vaddr;
  ASSERT_TRUE(candidates.has_value());
  EXPECT_EQ(*candidates, (std::vector<std::uint64_t>{exported + 1, exported + 3}));
}

TEST_F(Ifunc, ASlotOfTheLinkerNamesItsFunction) { EXPECT_EQ(candidates_of("free"), at({"exported_free"})); }

TEST_F(Ifunc, WhatIsNotCertainIsNotAnswered) {
  for (const char* name : {"realloc", "memalign", "valloc", "pvalloc"}) {
    EXPECT_FALSE(candidates_of(name).has_value()) << name;
  }
}

TEST_F(Ifunc, TheAllocatorIsProbedWhereItsCodeIs) {
  const AllocatorFile file = find_allocator_functions(image);
  std::map<std::uint64_t, std::vector<std::string>> names;
  for (const AllocatorFunction& function : file.functions) {
    EXPECT_FALSE(function.names.empty());
    names[*image.vaddr_of(function.entry_offset)] = function.names;
  }
  const std::uint64_t exported = testing::extent_of(image, "exported_free").vaddr;
  EXPECT_EQ(names[exported], std::vector<std::string>{"free"});
  EXPECT_EQ(names[exported + 2], std::vector<std::string>{"malloc"});
  std::set<std::string> unprobed;
  for (const UnprobedFunction& function : file.unprobed) unprobed.insert(function.name);
  // The first is malloc's in one case and calloc's in another.
  EXPECT_EQ(unprobed, (std::set<std::string>{"calloc", "malloc", "memalign", "pvalloc", "realloc", "valloc"}));
}

}  // namespace
}  // namespace hawk
