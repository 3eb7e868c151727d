#include "userspace/code/exception_table.h"

#include <gtest/gtest.h>

#include "tests/support/elf_fixture.h"

namespace hawk {
namespace {

using Goes = ExceptionTable::Goes;

class ExceptionsOf : public ::testing::Test {
 protected:
  std::uint64_t vaddr_of(const std::string& name) { return testing::extent_of(image_, name).vaddr; }

  const ElfImage image_ = testing::open_image(testing::fixture_path("yield_points.so"));
  ExceptionTable table_ = ExceptionTable(image_);
};

TEST_F(ExceptionsOf, ACallWithAHandlerLeadsToIt) {
  const ExceptionTable::Way way = table_.way_of(vaddr_of("returns_from_call"));
  EXPECT_EQ(way.goes, Goes::kTo);
  EXPECT_EQ(way.vaddr, vaddr_of("handler"));
}

TEST_F(ExceptionsOf, OtherCodeHandlesNone) {
  // In the same function, one byte behind the range; in a function without handlers; in no function.
  EXPECT_EQ(table_.way_of(vaddr_of("returns_from_call") + 1).goes, Goes::kOut);
  EXPECT_EQ(table_.way_of(vaddr_of("plain") + 5).goes, Goes::kOut);
  EXPECT_EQ(table_.way_of(1).goes, Goes::kOut);
}

TEST_F(ExceptionsOf, CodeBelongsToTheFunctionThatTheTableSays) {
  EXPECT_EQ(table_.begin_of(vaddr_of("handler")), vaddr_of("catches"));
  EXPECT_EQ(table_.begin_of(vaddr_of("plain")), vaddr_of("plain"));
  EXPECT_EQ(table_.begin_of(1), std::nullopt);
}

}  // namespace
}  // namespace hawk
