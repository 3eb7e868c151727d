#include "userspace/tables/shared_table.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <thread>

namespace hawk {
namespace {

SharedTable<std::size_t> numbers(std::size_t count) {
  SharedTable<std::size_t> table;
  for (std::size_t i = 0; i < count; ++i) table.push_back(i);
  return table;
}

TEST(SharedTable, HoldsWhatWasAddedInItsOrder) {
  const SharedTable<std::size_t> table = numbers(3000);
  ASSERT_EQ(table.size(), 3000U);
  for (std::size_t i = 0; i < table.size(); ++i) EXPECT_EQ(table[i], i);
  EXPECT_EQ(std::accumulate(table.begin(), table.end(), std::size_t{0}), 2999U * 3000U / 2U);
  EXPECT_TRUE(SharedTable<int>().empty());
}

TEST(SharedTable, ACopySharesElementsAndStaysWhatItWas) {
  SharedTable<std::string> table{"a", "b"};
  const SharedTable<std::string> copy = table;
  table.push_back("c");
  EXPECT_EQ(&copy[1], &table[1]);
  EXPECT_EQ(copy.size(), 2U);
  EXPECT_EQ(copy, (SharedTable<std::string>{"a", "b"}));
  EXPECT_EQ(table, (SharedTable<std::string>{"a", "b", "c"}));
}

TEST(SharedTable, CopiesThatBothGrowDoNotSeeEachOther) {
  for (const std::size_t count : {0U, 1U, 1023U, 1024U, 1025U}) {
    SharedTable<std::size_t> one = numbers(count);
    SharedTable<std::size_t> other = one;
    one.push_back(7777);
    other.push_back(8888);
    one.push_back(7778);
    EXPECT_EQ(one[count], 7777U);
    EXPECT_EQ(one[count + 1], 7778U);
    EXPECT_EQ(other[count], 8888U);
    EXPECT_EQ(one.size(), count + 2);
    EXPECT_EQ(other.size(), count + 1);
    if (count == 0) continue;
    EXPECT_EQ(other[count - 1], count - 1);
  }
}

TEST(SharedTable, ElementsStayWhereTheyAreWhileItGrows) {
  SharedTable<std::size_t> table = numbers(5);
  const std::size_t* const fourth = &table[4];
  for (std::size_t i = 5; i < 5000; ++i) table.push_back(i);
  EXPECT_EQ(&table[4], fourth);
}

TEST(SharedTable, AThreadReadsACopyWhileTheOriginalGrows) {
  SharedTable<std::size_t> table = numbers(1500);
  std::size_t sum = 0;
  std::jthread reader([&sum, copy = table] { sum = std::accumulate(copy.begin(), copy.end(), std::size_t{0}); });
  for (std::size_t i = 1500; i < 4000; ++i) table.push_back(i);
  reader.join();
  EXPECT_EQ(sum, 1499U * 1500U / 2U);
}

}  // namespace
}  // namespace hawk
