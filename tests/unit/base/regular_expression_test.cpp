#include "userspace/base/regular_expression.h"

#include <gtest/gtest.h>

namespace hawk {
namespace {

TEST(RegularExpression, MatchesAnywhere) {
  const RegularExpression expression("^Pool::|my_(m|c)alloc");
  ASSERT_TRUE(expression.is_valid());
  EXPECT_TRUE(expression.matches("Pool::take"));
  EXPECT_TRUE(expression.matches("x::my_calloc"));
  EXPECT_FALSE(expression.matches("x::Pool::take"));
  EXPECT_FALSE(expression.matches("X::MY_CALLOC"));
  EXPECT_TRUE(RegularExpression("pool", RegularExpression::Case::kIgnored).matches("POOL"));
}

TEST(RegularExpression, SaysWhatIsWrong) {
  const RegularExpression expression("a(b");
  EXPECT_FALSE(expression.is_valid());
  EXPECT_EQ(expression.error(), "Unmatched ( or \\(");
  EXPECT_EQ(RegularExpression("a").error(), "");
}

TEST(RegularExpression, LooksAtTheFirstBytesOfLongTexts) {
  const std::string name = std::string(4096, 'a') + "b";
  EXPECT_TRUE(RegularExpression("aaa").matches(name));
  EXPECT_FALSE(RegularExpression("b").matches(name));
}

}  // namespace
}  // namespace hawk
