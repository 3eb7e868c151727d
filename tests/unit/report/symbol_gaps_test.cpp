#include "userspace/report/symbol_gaps.h"

#include <gtest/gtest.h>

#include "tests/unit/report/sample_snapshots.h"
#include "userspace/report/call_table.h"

namespace hawk {
namespace {

std::vector<SymbolGap> gaps_of(Sample& sample, Quantity quantity, std::size_t shown) {
  std::vector<const StackRecord*> stacks;
  for (std::size_t index = 0; index < shown; ++index) stacks.push_back(&sample.snapshot.stacks[index]);
  const CallTable calls(sample.snapshot, stacks, sample.symbolizer, {});
  SymbolGaps gaps(quantity);
  for (const StackRecord* stack : stacks) gaps.add(*stack, calls.list(*stack));
  return gaps.gaps(sample.snapshot, sample.symbolizer);
}

TEST(SymbolGaps, ModuleWithoutSymbolsCountsStacksThatAreNotShownToo) {
  Sample sample = unsymbolized_sample();
  const std::vector<SymbolGap> gaps = gaps_of(sample, Quantity::kLive, 1);
  ASSERT_EQ(gaps.size(), 1U);
  EXPECT_EQ(gaps[0].module, ModuleId{1});
  EXPECT_TRUE(gaps[0].no_symbols);
  EXPECT_EQ(gaps[0].affected_bytes, 650'000U)
      << "two frames in one stack count once; stack 4 passes through it as well";
}

TEST(SymbolGaps, ModuleWithSomeNamesCountsItsNamelessStacks) {
  Sample sample = unsymbolized_sample();
  const std::vector<SymbolGap> gaps = gaps_of(sample, Quantity::kAllocated, 4);
  ASSERT_EQ(gaps.size(), 2U) << "code in no module is no gap of a file";
  EXPECT_EQ(gaps[1].module, ModuleId{2});
  EXPECT_FALSE(gaps[1].no_symbols);
  EXPECT_EQ(gaps[1].affected_bytes, 300'000U);
}

TEST(SymbolGaps, AStackCountsOnceForEachModuleHoweverManyNamelessFramesItHas) {
  Sample sample;
  const ModuleId gpu = sample.add_module("/usr/lib/libgpu.so.1", "");
  const ModuleId codec = sample.add_module("/usr/lib/libcodec.so.3", "");
  sample.add_stack(1, {500, 1, 0, 0}, {sample.call(gpu, {}), sample.call(codec, {}), sample.call(gpu, {})});
  sample.add_stack(2, {70, 1, 0, 0}, {sample.call(gpu, {}), sample.call(gpu, {})});
  const std::vector<SymbolGap> gaps = gaps_of(sample, Quantity::kLive, 2);
  ASSERT_EQ(gaps.size(), 2U);
  EXPECT_EQ(gaps[0].module, gpu);
  EXPECT_EQ(gaps[0].affected_bytes, 570U);
  EXPECT_EQ(gaps[1].affected_bytes, 500U);
}

TEST(SymbolGaps, NoneWhereEveryFrameHasAName) {
  Sample sample = service_sample();
  EXPECT_TRUE(gaps_of(sample, Quantity::kLive, sample.snapshot.stacks.size()).empty());
}

}  // namespace
}  // namespace hawk
