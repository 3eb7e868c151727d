#include "userspace/tables/place_table.h"

#include <gtest/gtest.h>

namespace hawk {
namespace {

TEST(PlaceTable, EqualFramesHaveOneNumberAndOthersHaveTheirOwn) {
  PlaceTable table;
  const Frame frame{0x1000, ModuleId{1}, 0x10};
  EXPECT_EQ(table.number_of(frame), PlaceId{0});
  EXPECT_EQ(table.number_of({0x1000, ModuleId{2}, 0x10}), PlaceId{1}) << "another file at the same address";
  EXPECT_EQ(table.number_of({0x1000, ModuleId{1}, 0x20}), PlaceId{2});
  EXPECT_EQ(table.number_of({0x1000, std::nullopt, 0}), PlaceId{3});
  EXPECT_EQ(table.number_of({0x1000, ModuleId{1}, 0x10, true}), PlaceId{4})
      << "interrupted there, not called from there";
  EXPECT_EQ(table.number_of(frame), PlaceId{0});
  ASSERT_EQ(table.places().size(), 5U);
  EXPECT_EQ(table.places()[0], frame);
  table.clear();
  EXPECT_TRUE(table.places().empty());
  EXPECT_EQ(table.number_of({0x1000, std::nullopt, 0}), PlaceId{0});
}

}  // namespace
}  // namespace hawk
