#include "symbolizer/string_pool.h"

#include <gtest/gtest.h>

namespace hawk {
namespace {

TEST(StringPool, KeepsATextOnce) {
  StringPool pool;
  EXPECT_EQ(pool.add(""), StringPool::kEmpty);
  const std::uint32_t number = pool.add("name");
  EXPECT_EQ(pool.add("name"), number);
  EXPECT_EQ(pool.text(number), "name");
  EXPECT_EQ(pool.text_bytes(), 4u);
}

TEST(StringPool, CutsOffWhatIsTooLong) {
  StringPool pool;
  const std::string longest(StringPool::kLongestBytes, 'x');
  EXPECT_EQ(pool.text(pool.add(longest)), longest);
  EXPECT_EQ(pool.text(pool.add(longest + "y")), longest + "...");
  EXPECT_EQ(pool.add(longest + "another"), pool.add(longest + "y"));
}

}  // namespace
}  // namespace hawk
