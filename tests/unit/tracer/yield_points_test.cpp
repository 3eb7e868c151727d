#include "userspace/tracer/yield_points.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace hawk {
namespace {

constexpr Operand in_register(std::uint32_t number) { return {.kind = Operand::Kind::kRegister, .index = number}; }

constexpr Operand on_stack(std::uint32_t words) { return {.kind = Operand::Kind::kStack, .index = words}; }

YieldPoint yield_at(std::uint64_t file_offset) {
  YieldPoint point;
  point.vaddr = point.file_offset = file_offset;
  point.result = in_register(0);
  point.size = in_register(3);
  point.slot_words = 5;
  return point;
}

AllocatorFunction function_with(std::uint64_t entry_offset, std::vector<YieldPoint> points) {
  AllocatorFunction function;
  function.names = {"malloc"};
  function.kind = HAWK_CALL_MALLOC;
  function.entry_offset = function.probe_offset = entry_offset;
  function.yields.points = std::move(points);
  return function;
}

TEST(EncodeYield, TellsWhereEverythingIs) {
  YieldPoint point = yield_at(0x100);
  point.condition = 4;
  point.saved_rbp_words = 3;
  const std::optional<hawk_yield_point> encoded = encode_yield(point, HAWK_CALL_MALLOC);
  ASSERT_TRUE(encoded);
  EXPECT_EQ(encoded->kind, HAWK_CALL_MALLOC);
  EXPECT_EQ(encoded->role, HAWK_YIELDS_ALL);
  EXPECT_EQ(encoded->condition, 4);
  EXPECT_EQ(encoded->result, 0);
  EXPECT_EQ(encoded->size, 3);
  EXPECT_EQ(encoded->factor, HAWK_NO_REGISTER);
  EXPECT_EQ(encoded->slot_at, 40);
  EXPECT_EQ(encoded->rbp_at, 24);
  EXPECT_EQ(encoded->size_at, HAWK_NOT_ON_STACK);
}

TEST(EncodeYield, TellsASizeOnTheStackAndItsFactor) {
  YieldPoint point = yield_at(0x100);
  point.size = on_stack(2);
  point.size_factor = in_register(12);
  const std::optional<hawk_yield_point> encoded = encode_yield(point, HAWK_CALL_CALLOC);
  ASSERT_TRUE(encoded);
  EXPECT_EQ(encoded->size_at, 16);
  EXPECT_EQ(encoded->factor, 12);
  EXPECT_EQ(encoded->condition, HAWK_ALWAYS);
  EXPECT_EQ(encoded->rbp_at, HAWK_NOT_ON_STACK);
}

TEST(EncodeYield, TakesNoPointThatTheProgramsCannotFollow) {
  YieldPoint point = yield_at(0x100);
  // The size of a block that is resized says nothing of the old one.
  EXPECT_FALSE(encode_yield(point, HAWK_CALL_REALLOC));
  // Its result is in memory.
  EXPECT_FALSE(encode_yield(point, HAWK_CALL_POSIX_MEMALIGN));
  point.slot_words = 0xffff / 8;
  EXPECT_TRUE(encode_yield(point, HAWK_CALL_MALLOC));
  point.slot_words = 0xffff / 8 + 1;
  EXPECT_FALSE(encode_yield(point, HAWK_CALL_MALLOC));
  point = yield_at(0x100);
  point.size = {};
  EXPECT_FALSE(encode_yield(point, HAWK_CALL_MALLOC));
  point = yield_at(0x100);
  point.result = {};
  EXPECT_FALSE(encode_yield(point, HAWK_CALL_MALLOC));
  point = yield_at(0x100);
  point.size_factor = on_stack(1);
  EXPECT_FALSE(encode_yield(point, HAWK_CALL_CALLOC));
}

TEST(EncodeYield, OfARememberedSizeTheOpenCallTellsTheKind) {
  YieldPoint point = yield_at(0x100);
  point.kind = PointKind::kYieldAfterSize;
  point.size = {};
  for (const hawk_call_kind kind : {HAWK_CALL_REALLOC, HAWK_CALL_POSIX_MEMALIGN, HAWK_CALL_MALLOC}) {
    const std::optional<hawk_yield_point> encoded = encode_yield(point, kind);
    ASSERT_TRUE(encoded);
    EXPECT_EQ(encoded->kind, 0);
    EXPECT_EQ(encoded->role, HAWK_YIELDS_RESULT);
  }
}

YieldPoint with_inner_call(std::uint64_t return_vaddr) {
  YieldPoint point = yield_at(0x100);
  point.vaddr = 0x400100;
  point.kind = PointKind::kSize;
  point.inner = InnerCall{.words = 4, .saved_rbp_words = 2, .return_vaddr = return_vaddr};
  return point;
}

TEST(EncodeYield, TellsTheCallThatMakesTheBlock) {
  const std::optional<hawk_yield_point> encoded = encode_yield(with_inner_call(0x400148), HAWK_CALL_POSIX_MEMALIGN);
  ASSERT_TRUE(encoded);
  EXPECT_EQ(encoded->role, HAWK_YIELDS_SIZE);
  EXPECT_EQ(encoded->kind, HAWK_CALL_ALIGNED_ALLOC);  // which returns its block
  EXPECT_EQ(encoded->inner_words, 4);
  EXPECT_EQ(encoded->inner_rbp_words, 2);
  EXPECT_EQ(encoded->inner_return, 0x48);
  EXPECT_EQ(encode_yield(yield_at(0x100), HAWK_CALL_MALLOC)->inner_words, 0);
  YieldPoint unchanged = with_inner_call(0x400148);
  unchanged.inner->saved_rbp_words.reset();
  EXPECT_EQ(encode_yield(unchanged, HAWK_CALL_POSIX_MEMALIGN)->inner_rbp_words, 0);
}

TEST(EncodeYield, TakesNoSuchCallThatTheProgramsCannotFollow) {
  EXPECT_TRUE(encode_yield(with_inner_call(0x400100 + 0x7fff), HAWK_CALL_POSIX_MEMALIGN));
  EXPECT_FALSE(encode_yield(with_inner_call(0x400100 + 0x8000), HAWK_CALL_POSIX_MEMALIGN));
  for (const std::uint32_t words : {0U, 256U}) {
    YieldPoint point = with_inner_call(0x400148);
    point.inner->words = words;
    EXPECT_FALSE(encode_yield(point, HAWK_CALL_POSIX_MEMALIGN)) << words;
    point = with_inner_call(0x400148);
    point.inner->saved_rbp_words = words;
    EXPECT_FALSE(encode_yield(point, HAWK_CALL_POSIX_MEMALIGN)) << words;
  }
}

/// One that has its block made by others is seen there, or not by points.
TEST(SettlePlans, LeavesNoneWithoutThoseThatItReliesOn) {
  AllocatorFile file;
  file.functions = {function_with(0x100, {yield_at(0x120)}), function_with(0x200, {yield_at(0x220)}),
                    function_with(0x300, {yield_at(0x320)})};
  file.functions[0].yields.relies_on = {0x200};
  file.functions[1].yields.relies_on = {0x300};
  AllocatorFile without = file;
  settle_plans(file);
  for (const AllocatorFunction& function : file.functions) EXPECT_FALSE(function.yields.points.empty());
  without.functions[2].yields.points.clear();
  settle_plans(without);
  for (const AllocatorFunction& function : without.functions) EXPECT_TRUE(function.yields.points.empty());
  EXPECT_EQ(without.functions[0].yields.fallback, "it continues in a function of which points do not show all blocks");
}

TEST(GiveUpPlans, LeavesNone) {
  AllocatorFile file;
  file.functions = {function_with(0x100, {yield_at(0x120)}), function_with(0x200, {})};
  file.functions[1].yields.fallback = "it has none";
  give_up_plans(file, "not asked for");
  EXPECT_TRUE(file.functions[0].yields.points.empty());
  EXPECT_EQ(file.functions[0].yields.fallback, "not asked for");
  EXPECT_EQ(file.functions[1].yields.fallback, "it has none");
  EXPECT_TRUE(yield_probes_of(file).empty());
}

/// No unwinder comes through a replaced return address.
TEST(SettlePlans, NoReturnProbeInWhatMayThrow) {
  YieldPoint goes_on = yield_at(0x130);
  goes_on.kind = PointKind::kReturnProbe;
  goes_on.slot_words = 0;
  goes_on.result = {};
  AllocatorFile file;
  file.functions = {function_with(0x100, {yield_at(0x120), goes_on})};
  file.functions.push_back(file.functions[0]);
  file.functions[1].may_throw = true;
  settle_plans(file);
  EXPECT_FALSE(file.functions[0].yields.points.empty());
  EXPECT_TRUE(file.functions[1].yields.points.empty());
}

TEST(SettlePlans, AnInstructionHasOneMeaning) {
  AllocatorFile file;
  YieldPoint other = yield_at(0x120);
  other.size = in_register(5);
  file.functions = {function_with(0x100, {yield_at(0x120)}), function_with(0x200, {other, yield_at(0x220)})};
  settle_plans(file);
  EXPECT_EQ(file.functions[0].yields.points.size(), 1u);
  EXPECT_TRUE(file.functions[1].yields.points.empty());
  EXPECT_EQ(file.functions[1].yields.fallback, "another function ends at 0x120 as well");
  const std::vector<YieldProbe> probes = yield_probes_of(file);
  ASSERT_EQ(probes.size(), 1u);
  EXPECT_EQ(probes[0].file_offset, 0x120u);
}

TEST(SettlePlans, CodeThatIsSharedIsProbedOnce) {
  AllocatorFile file;
  YieldPoint shared = yield_at(0x320);
  shared.kind = PointKind::kYieldAfterSize;
  shared.size = {};
  file.functions = {function_with(0x100, {shared}), function_with(0x200, {shared})};
  file.functions[1].kind = HAWK_CALL_REALLOC;
  settle_plans(file);
  EXPECT_FALSE(file.functions[0].yields.points.empty());
  EXPECT_FALSE(file.functions[1].yields.points.empty());
  EXPECT_EQ(yield_probes_of(file).size(), 1u);
}

TEST(SettlePlans, WhatNeedsNoProbeHasNone) {
  AllocatorFile file;
  YieldPoint forward = yield_at(0x120);
  forward.kind = PointKind::kForward;
  file.functions = {function_with(0x100, {forward})};
  settle_plans(file);
  EXPECT_FALSE(file.functions[0].yields.points.empty());
  EXPECT_TRUE(yield_probes_of(file).empty());
}

/// The number of the point there; nullopt: there is no room.
std::optional<std::uint64_t> add(YieldPoints& points, const YieldProbe& probe) {
  const std::optional<std::vector<Probe>> added = points.add(std::vector{probe});
  if (!added) return std::nullopt;
  return added->front().cookie >> HAWK_COOKIE_POINT_SHIFT & (HAWK_MAX_YIELD_POINTS - 1);
}

YieldPoint called_from(std::uint64_t return_vaddr) {
  YieldPoint point = yield_at(0x120);
  point.vaddr = 0x400120;
  point.called_by = InnerCall{.words = 6, .saved_rbp_words = 2, .return_vaddr = return_vaddr};
  return point;
}

TEST(EncodeYield, TellsTheCallerThatAFunctionWorksFor) {
  const YieldPoint point = called_from(0x400020);
  const std::optional<hawk_yield_point> encoded = encode_yield(point, HAWK_CALL_MALLOC);
  ASSERT_TRUE(encoded);
  EXPECT_EQ(encoded->caller_at, point.slot_words * 8);
  EXPECT_EQ(encoded->caller_return, -0x100);
  EXPECT_EQ(encoded->slot_at, (point.slot_words + 6) * 8);
  EXPECT_EQ(encoded->rbp_at, (point.slot_words + 4) * 8);
  EXPECT_EQ(encode_yield(yield_at(0x120), HAWK_CALL_MALLOC)->caller_at, HAWK_NOT_ON_STACK);
  YieldPoint unsaved = point;
  unsaved.called_by->saved_rbp_words.reset();
  EXPECT_EQ(encode_yield(unsaved, HAWK_CALL_MALLOC)->rbp_at, encode_yield(yield_at(0x120), HAWK_CALL_MALLOC)->rbp_at)
      << "where the function that is called has saved it";
  EXPECT_FALSE(encode_yield(called_from(0x400120 + (1ULL << 31)), HAWK_CALL_MALLOC));
  EXPECT_TRUE(encode_yield(called_from(0x400120 + (1ULL << 31) - 1), HAWK_CALL_MALLOC));
  YieldPoint far = point;
  far.called_by->words = 8192;
  EXPECT_FALSE(encode_yield(far, HAWK_CALL_MALLOC));
}

TEST(SettlePlans, AnInstructionMayHaveAMeaningForEachCaller) {
  AllocatorFile file;
  file.functions = {function_with(0x100, {called_from(0x400020), called_from(0x400040)}),
                    function_with(0x200, {called_from(0x400030)}), function_with(0x300, {called_from(0x400040)}),
                    function_with(0x400, {yield_at(0x120)})};
  file.functions[1].kind = HAWK_CALL_CALLOC;
  file.functions[2].kind = HAWK_CALL_CALLOC;
  settle_plans(file);
  EXPECT_EQ(file.functions[0].yields.fallback, "");
  EXPECT_EQ(file.functions[1].yields.fallback, "");
  EXPECT_NE(file.functions[2].yields.fallback, "") << "the same caller would be two things";
  EXPECT_NE(file.functions[3].yields.fallback, "") << "it would count for all callers";
  const std::vector<YieldProbe> probes = yield_probes_of(file);
  ASSERT_EQ(probes.size(), 3U);
  for (std::size_t i = 0; i < probes.size(); ++i) {
    EXPECT_EQ(probes[i].file_offset, 0x120U);
    EXPECT_EQ(probes[i].point.more_callers, 2 - i);
  }
  EXPECT_EQ(probes[1].point.kind, HAWK_CALL_CALLOC);
}

TEST(SettlePlans, AFunctionHasNoMoreCallersThanTheProgramsLookAt) {
  AllocatorFile file;
  for (std::uint64_t i = 0; i <= HAWK_MOST_CALLERS; ++i)
    file.functions.push_back(function_with(0x1000 + i, {called_from(0x400000 + i)}));
  settle_plans(file);
  for (std::uint64_t i = 0; i <= HAWK_MOST_CALLERS; ++i)
    EXPECT_EQ(file.functions[i].yields.points.empty(), i == HAWK_MOST_CALLERS) << i;
  EXPECT_EQ(yield_probes_of(file).size(), HAWK_MOST_CALLERS);
}

TEST(YieldPoints, OfSeveralCallersAreNumberedTogether) {
  std::array<hawk_yield_point, 5> memory = {};
  __u64 hits[2][HAWK_MAX_YIELD_POINTS] = {};
  YieldPoints points(memory, hits);
  AllocatorFile file;
  file.functions = {function_with(0x100, {called_from(0x400020), called_from(0x400040)}),
                    function_with(0x200, {yield_at(0x220)})};
  const std::vector<YieldProbe> probes = yield_probes_of(file);
  const std::optional<std::vector<Probe>> added = points.add(probes);
  ASSERT_TRUE(added);
  ASSERT_EQ(added->size(), 2U) << "an instruction has one probe";
  EXPECT_EQ((*added)[0].cookie >> HAWK_COOKIE_POINT_SHIFT & (HAWK_MAX_YIELD_POINTS - 1), 0U);
  EXPECT_EQ((*added)[1].cookie >> HAWK_COOKIE_POINT_SHIFT & (HAWK_MAX_YIELD_POINTS - 1), 2U);
  EXPECT_EQ(points.add(probes)->size(), 2U);
  EXPECT_EQ(points.count(), 3U) << "as they are in another process";
  hits[0][1] = 4;
  for (const std::uint64_t caller : {0x400020, 0x400040}) {
    const YieldProbe asked = {.file_offset = 0x120, .point = *encode_yield(called_from(caller), HAWK_CALL_MALLOC)};
    EXPECT_EQ(points.hits(asked), caller == 0x400040 ? 4U : 0U);
  }
  // With one caller more they are others, of which all have to fit.
  file.functions.push_back(function_with(0x300, {called_from(0x400060)}));
  EXPECT_FALSE(points.has_room_for(yield_probes_of(file)));
  EXPECT_FALSE(points.add(yield_probes_of(file)));
  EXPECT_EQ(points.count(), 3U);
}

TEST(YieldPoints, AreNumberedAndForgotten) {
  std::array<hawk_yield_point, 2> memory = {};
  __u64 hits[2][HAWK_MAX_YIELD_POINTS] = {};
  YieldPoints points(memory, hits);
  const YieldProbe first = {.file_offset = 0x100, .point = *encode_yield(yield_at(0x100), HAWK_CALL_MALLOC)};
  YieldProbe other = first;
  EXPECT_EQ(add(points, first), 0u);
  EXPECT_EQ(add(points, first), 0u) << "as it is in another process";
  other.point.kind = HAWK_CALL_CALLOC;
  EXPECT_EQ(add(points, other), 1u);
  EXPECT_EQ(memory[1].slot_at, 40);
  other.point.kind = HAWK_CALL_REALLOC;
  EXPECT_FALSE(add(points, other));
  points.forget_from(1);
  EXPECT_EQ(points.count(), 1u);
  EXPECT_EQ(add(points, other), 1u);
}

/// Known ones take none.
TEST(YieldPoints, HaveRoomForSomeMore) {
  std::array<hawk_yield_point, 4> memory = {};
  __u64 hits[2][HAWK_MAX_YIELD_POINTS] = {};
  YieldPoints points(memory, hits);
  std::vector<YieldProbe> probes;
  for (std::uint64_t offset = 1; offset <= 4; ++offset)
    probes.push_back({.file_offset = offset, .point = *encode_yield(yield_at(offset), HAWK_CALL_MALLOC)});
  EXPECT_TRUE(points.has_room_for(probes));
  add(points, probes[0]);
  EXPECT_FALSE(points.is_half_taken());
  add(points, probes[1]);
  EXPECT_TRUE(points.is_half_taken());
  EXPECT_TRUE(points.has_room_for(probes));
  probes.push_back({.file_offset = 5, .point = *encode_yield(yield_at(5), HAWK_CALL_MALLOC)});
  EXPECT_FALSE(points.has_room_for(probes));
}

/// What happens at equal instructions of two functions is told apart.
TEST(YieldPoints, AreCountedByThemselves) {
  std::array<hawk_yield_point, 4> memory = {};
  __u64 hits[2][HAWK_MAX_YIELD_POINTS] = {};
  YieldPoints points(memory, hits);
  const YieldProbe first = {.file_offset = 0x100, .point = *encode_yield(yield_at(0x100), HAWK_CALL_MALLOC)};
  YieldProbe second = first;
  second.file_offset = 0x200;
  EXPECT_EQ(points.hits(first), 0u);
  add(points, first);
  EXPECT_EQ(add(points, second), 1u);
  hits[0][0] = 3;
  hits[1][0] = 4;
  hits[1][1] = 5;
  EXPECT_EQ(points.hits(first), 7u);
  EXPECT_EQ(points.hits(second), 5u);
  add(points, first);
  EXPECT_EQ(points.hits(first), 7u) << "those of another process go on";
  points.forget_from(1);
  EXPECT_EQ(points.hits(second), 0u);
  add(points, second);
  EXPECT_EQ(points.hits(second), 0u) << "another point had its number";
}

}  // namespace
}  // namespace hawk
