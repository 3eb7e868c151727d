#include "userspace/tables/location_table.h"

#include <gtest/gtest.h>

namespace hawk {
namespace {

TEST(LocationTable, EqualFramesHaveOneNumberAndOthersHaveTheirOwn) {
  LocationTable table;
  const Location frame{0x1000, ModuleId{1}, 0x10};
  EXPECT_EQ(table.number_of(frame), LocationId{0});
  EXPECT_EQ(table.number_of({0x1000, ModuleId{2}, 0x10}), LocationId{1}) << "another file at the same address";
  EXPECT_EQ(table.number_of({0x1000, ModuleId{1}, 0x20}), LocationId{2});
  EXPECT_EQ(table.number_of({0x1000, std::nullopt, 0}), LocationId{3});
  EXPECT_EQ(table.number_of({0x1000, ModuleId{1}, 0x10, true}), LocationId{4})
      << "interrupted there, not called from there";
  EXPECT_EQ(table.number_of(frame), LocationId{0});
  ASSERT_EQ(table.locations().size(), 5U);
  EXPECT_EQ(table.locations()[0], frame);
  table.clear();
  EXPECT_TRUE(table.locations().empty());
  EXPECT_EQ(table.number_of({0x1000, std::nullopt, 0}), LocationId{0});
}

}  // namespace
}  // namespace hawk
