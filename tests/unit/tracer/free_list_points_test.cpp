#include <gtest/gtest.h>

#include <optional>

#include "userspace/tracer/yield_points.h"

namespace hawk {
namespace {

YieldPoint ahead_at(std::uint64_t vaddr, std::uint64_t classes_vaddr) {
  YieldPoint point;
  point.vaddr = vaddr;
  point.file_offset = 0x100;
  point.size = {.kind = Operand::Kind::kRegister, .index = 3};
  point.kind = PointKind::kYieldAhead;
  point.ahead = FreeList{
      .lists = 8, .list_shift = 5, .head = -16, .classes_vaddr = classes_vaddr, .size_added = 7, .size_shift = 3};
  return point;
}

TEST(EncodeYield, TellsWhereTheFirstBlockOfAListStands) {
  const std::optional<hawk_yield_point> encoded = encode_yield(ahead_at(0x400100, 0x3ff000), HAWK_CALL_MALLOC);
  ASSERT_TRUE(encoded);
  EXPECT_EQ(encoded->role, HAWK_YIELDS_AHEAD);
  EXPECT_EQ(encoded->kind, HAWK_CALL_MALLOC);
  EXPECT_EQ(encoded->size, 3);
  EXPECT_EQ(encoded->lists, 8);
  EXPECT_EQ(encoded->list_shift, 5);
  EXPECT_EQ(encoded->head, -16);
  EXPECT_EQ(encoded->classes, -0x1100);
  EXPECT_EQ(encoded->size_added, 7u);
  EXPECT_EQ(encoded->size_shift, 3);
}

TEST(EncodeYield, TakesNoListThatTheProgramsCannotFollow) {
  EXPECT_TRUE(encode_yield(ahead_at(0x400100, 0x400100 + 0x7fffffffULL), HAWK_CALL_MALLOC));
  EXPECT_FALSE(encode_yield(ahead_at(0x400100, 0x400100 + 0x80000000ULL), HAWK_CALL_MALLOC));
  YieldPoint point = ahead_at(0x400100, 0x3ff000);
  point.ahead.reset();
  EXPECT_FALSE(encode_yield(point, HAWK_CALL_MALLOC));
  EXPECT_FALSE(encode_yield(ahead_at(0x400100, 0x3ff000), HAWK_CALL_REALLOC));
}

TEST(GiveUpLookingAhead, LeavesOtherPlans) {
  AllocatorFile file;
  file.functions.resize(2);
  YieldPoint other;
  file.functions[0].yields.points = {other, ahead_at(0x1010, 0x3000)};
  file.functions[1].yields.points = {other};
  give_up_looking_ahead(file, "it moves");
  EXPECT_TRUE(file.functions[0].yields.points.empty());
  EXPECT_EQ(file.functions[0].yields.fallback, "it moves");
  EXPECT_EQ(file.functions[1].yields.points.size(), 1u);
}

}  // namespace
}  // namespace hawk
