#include "userspace/report/call_table.h"

#include <gtest/gtest.h>

#include "tests/unit/report/sample_snapshots.h"

namespace hawk {
namespace {

std::vector<const StackRecord*> all_stacks(const Snapshot& snapshot) {
  std::vector<const StackRecord*> stacks;
  for (const StackRecord& stack : snapshot.stacks) stacks.push_back(&stack);
  return stacks;
}

TEST(CallTable, InlinedCallsStandBeforeTheirFunctionAtTheSameLocation) {
  Sample sample = service_sample();
  const CallTable calls(sample.snapshot, all_stacks(sample.snapshot), sample.symbolizer, {});
  const FrameList frames = calls.list(sample.stack(7));
  ASSERT_EQ(frames.size(), 6U);
  EXPECT_EQ(frames[2]->source.function, "shop::Router::route(shop::Request const&)");
  EXPECT_TRUE(frames[2]->source.inlined);
  EXPECT_EQ(frames[3]->source.function, "shop::Server::dispatch(shop::Request const&)");
  EXPECT_FALSE(frames[3]->source.inlined);
  EXPECT_EQ(frames[2]->location, frames[3]->location);
}

TEST(CallTable, ALocationOfWhichNothingIsKnownIsOneFrame) {
  Sample sample = unsymbolized_sample();
  const CallTable calls(sample.snapshot, all_stacks(sample.snapshot), sample.symbolizer, {});
  EXPECT_EQ(calls.list(sample.snapshot.stacks[0]).size(), 3U);
  const FrameList no_module = calls.list(sample.snapshot.stacks[2]);
  ASSERT_EQ(no_module.size(), 2U);
  EXPECT_EQ(no_module[0]->source, SourceFrame{});
}

TEST(CallTable, StacksShareTheCallsAtALocation) {
  Sample sample = deep_sample();
  const CallTable calls(sample.snapshot, all_stacks(sample.snapshot), sample.symbolizer, {});
  const FrameList recursion = calls.list(sample.snapshot.stacks[0]);
  EXPECT_EQ(recursion[8], recursion[9]) << "descend called from descend";
  EXPECT_EQ(calls.size(), 12U) << "7 inlined into each other, descend, 2 outer ones; 2 of the other stack";
  for (std::size_t index = 0; index < recursion.size(); ++index) EXPECT_LT(calls.number_of(*recursion[index]), 10U);
  EXPECT_EQ(calls.number_of(*recursion[8]), calls.number_of(*recursion[9]));
  EXPECT_NE(calls.number_of(*recursion[7]), calls.number_of(*recursion[6]));
}

TEST(CallTable, CallsOfOneFunctionHaveOneNumber) {
  Sample sample = empty_sample();
  const ModuleId exe = sample.add_module("/bin/x", "aabb");
  const std::vector<Location> calls = {sample.call(exe, {function("walk", "x.c", 1)}), sample.call(exe, {}),
                                       sample.call(exe, {function("walk", "x.c", 7)}), sample.call(exe, {}),
                                       sample.call(exe, {inlined("leaf"), function("walk")})};
  sample.add_stack(1, {1, 1, 0, 0}, calls);
  const CallTable table(sample.snapshot, all_stacks(sample.snapshot), sample.symbolizer, {});
  const FrameList list = table.list(sample.stack(1));
  ASSERT_EQ(list.size(), 6U);
  EXPECT_TRUE(is_recursion(*list[0], *list[2])) << "the function counts, not the line in it";
  EXPECT_TRUE(is_recursion(*list[0], *list[5]));
  EXPECT_FALSE(is_recursion(*list[0], *list[4]));
  EXPECT_FALSE(is_recursion(*list[1], *list[3])) << "without a name, a location is a function of its own";
  EXPECT_FALSE(is_recursion(*list[0], *list[1]));
}

TEST(CallTable, TheDecidingCallNeedsNoList) {
  for (Sample (*make)() : {service_sample, unsymbolized_sample, lossy_sample, deep_sample, unwinding_sample}) {
    Sample sample = make();
    const CallTable calls(sample.snapshot, all_stacks(sample.snapshot), sample.symbolizer, sample_role_of);
    for (const StackRecord& stack : sample.snapshot.stacks) {
      const FrameList frames = calls.list(stack);
      EXPECT_EQ(calls.deciding(stack), frames.empty() ? nullptr : frames[deciding_frame(frames)]);
    }
  }
}

TEST(CallTable, FoldableIsWhatThePredicateSaysAndNeverANamelessCall) {
  Sample sample = unsymbolized_sample();
  const RoleOfFunction everything = [](const std::string&) { return FrameRole::kLibrary; };
  const CallTable judged(sample.snapshot, all_stacks(sample.snapshot), sample.symbolizer, everything);
  const FrameList frames = judged.list(sample.snapshot.stacks[0]);
  EXPECT_FALSE(frames[0]->is_foldable()) << "no name";
  EXPECT_TRUE(frames[2]->is_foldable()) << "main";
  const CallTable unjudged(sample.snapshot, all_stacks(sample.snapshot), sample.symbolizer, {});
  EXPECT_FALSE(unjudged.list(sample.snapshot.stacks[0])[2]->is_foldable()) << "without a predicate nothing is folded";
}

}  // namespace
}  // namespace hawk
