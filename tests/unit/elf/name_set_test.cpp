#include "userspace/elf/name_set.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace hawk {
namespace {

constexpr std::array<std::string_view, 4> kNames = {"malloc", "free", "_Znwm", "malloc"};

TEST(NameSet, HoldsEachNameOnce) {
  const NameSet names(kNames);
  ASSERT_EQ(names.entries().size(), 3u);
  for (const NameSet::Entry& entry : names.entries()) {
    ASSERT_TRUE(names.find(entry.name)) << entry.name;
    EXPECT_EQ(names.entries()[*names.find(entry.name)].name, entry.name);
  }
  EXPECT_FALSE(names.find("mallo"));
  EXPECT_FALSE(names.find("malloc_usable_size"));
}

/// Known values of the function, from the description of DT_GNU_HASH: "", "printf", "exit".
TEST(NameSet, HashesAsLinkersDo) {
  const std::array<std::string_view, 3> words = {"", "printf", "exit"};
  const NameSet names(words);
  EXPECT_EQ(names.entries()[0].gnu_hash, 0x00001505u);
  EXPECT_EQ(names.entries()[1].gnu_hash, 0x156b2bb8u);
  EXPECT_EQ(names.entries()[2].gnu_hash, 0x7c967e3fu);
}

TEST(NameSet, TheFilterLetsEveryNamePassAndHoldsMostOthersBack) {
  const NameSet names(kNames);
  for (const NameSet::Entry& entry : names.entries()) EXPECT_TRUE(names.may_contain(entry.name.data())) << entry.name;
  int passed = 0;
  for (int number = 1000; number < 2000; ++number) {
    const std::string other = std::to_string(number);
    passed += names.may_contain(other.c_str()) ? 1 : 0;
  }
  EXPECT_LT(passed, 20);
}

TEST(NameSet, ShortNamesAreNotLostInTheFilter) {
  const std::array<std::string_view, 2> words = {"f", "malloc"};
  const NameSet names(words);
  EXPECT_TRUE(names.may_contain("f\0\0\0"));
  EXPECT_TRUE(names.find("f"));
}

}  // namespace
}  // namespace hawk
