#include "userspace/report/unwind_text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/report/sample_snapshots.h"

namespace hawk {
namespace {

using Lines = std::vector<std::string>;

TEST(UnwindText, AllCompleteTakesOneLineAndNoMore) {
  Sample sample = service_sample();
  const UnwindText text(sample.snapshot, Quantity::kLive);
  EXPECT_TRUE(text.all_complete());
  EXPECT_EQ(text.summary(), "stacks: all complete");
  EXPECT_EQ(text.short_summary(), "");
  EXPECT_TRUE(text.causes().lines.empty());
  EXPECT_TRUE(text.causes().hints.empty());
  for (const StackRecord& stack : sample.snapshot.stacks) EXPECT_EQ(text.end_mark(stack), "");
}

TEST(UnwindText, BlocksWithoutAStackAreNotCalledComplete) {
  Sample sample = service_sample();
  sample.add_stack(0, {2'000'000, 5, 0, 0}, {});
  EXPECT_EQ(UnwindText(sample.snapshot, Quantity::kLive).summary(), "stacks: all recorded ones complete");
  sample.stack(7).end = HAWK_END_GAP;
  EXPECT_EQ(UnwindText(sample.snapshot, Quantity::kLive).summary(),
            "stacks: 19.4 % of live bytes complete, 31.5 % truncated, 49.2 % not recorded");
  EXPECT_EQ(UnwindText(sample.snapshot, Quantity::kLive).end_mark(sample.stack(0)), "");
}

TEST(UnwindText, SharesAreOfTheBytesAskedForOrOfAllocatedOnesWhereNothingIsLive) {
  Sample sample = unwinding_sample();
  EXPECT_EQ(UnwindText(sample.snapshot, Quantity::kLive).summary(),
            "stacks: 70.9 % of live bytes complete, 23.0 % guessed, 6.1 % truncated");
  sample.add_stack(30, {4'000'000, 1, 4'000'000, 1}, {}).end = HAWK_END_UNREADABLE;
  EXPECT_EQ(UnwindText(sample.snapshot, Quantity::kAllocated).summary(),
            "stacks: 14.2 % of allocated bytes complete, 4.6 % guessed, 81.2 % truncated");
  Sample freed = empty_sample();
  freed.add_stack(1, {100, 1, 100, 1}, {}).guessed = true;
  EXPECT_EQ(UnwindText(freed.snapshot, Quantity::kLive).summary(),
            "stacks: 0.0 % of allocated bytes complete, 100.0 % guessed");
}

TEST(UnwindText, TruncatedStacksSayWhyAndGuessesThatTheyAreSome) {
  Sample sample = unwinding_sample();
  const UnwindText text(sample.snapshot, Quantity::kLive);
  Lines marks;
  for (const StackRecord& stack : sample.snapshot.stacks) marks.push_back(text.end_mark(stack));
  EXPECT_EQ(marks, (Lines{"", "(guessed along frame pointers)", "(guessed along frame pointers)",
                          "… (truncated: a rule of the unwind table that cannot be followed)", "",
                          "… (truncated: mappings were being changed)", "… (cut at --stack-depth)"}));
}

TEST(UnwindText, EachGuessIsMarkedOnlyWhereOtherStacksAreNone) {
  Sample sample = empty_sample();
  sample.add_stack(1, {100, 1, 0, 0}, {}).guessed = true;
  EXPECT_EQ(UnwindText(sample.snapshot, Quantity::kLive).end_mark(sample.snapshot.stacks[0]), "");
  sample.add_stack(2, {100, 1, 0, 0}, {});
  EXPECT_NE(UnwindText(sample.snapshot, Quantity::kLive).end_mark(sample.snapshot.stacks[0]), "");
}

TEST(UnwindText, GuessesThatWereAskedForAreToldOnce) {
  Sample sample = lossy_sample();
  const UnwindText text(sample.snapshot, Quantity::kLive);
  EXPECT_EQ(text.summary(),
            "stacks: guessed along frame pointers (--unwind fp), 69.2 % of live bytes cut at --stack-depth");
  EXPECT_EQ(text.short_summary(), "69.2 % truncated");
  EXPECT_TRUE(text.causes().lines.empty());
  sample.snapshot.stacks[1].end = HAWK_END_OUTERMOST;
  const UnwindText deep(sample.snapshot, Quantity::kLive);
  EXPECT_EQ(deep.summary(), "stacks: guessed along frame pointers (--unwind fp)");
  EXPECT_EQ(deep.short_summary(), "");
  EXPECT_EQ(deep.end_mark(sample.snapshot.stacks[1]), "");
}

TEST(UnwindText, CausesNameTheFileAndWhatIsInIt) {
  Sample sample = unwinding_sample();
  const UnwindText::Causes causes = UnwindText(sample.snapshot, Quantity::kLive).causes();
  EXPECT_EQ(causes.lines, (Lines{"  15.0 %  guessed: no unwind table in /opt/vendor/lib/libvendor-codec.so.3",
                                 "   8.0 %  guessed: code outside files, such as JIT-compiled code",
                                 "   6.0 %  truncated: a rule of the unwind table that cannot be followed "
                                 "(/usr/lib/x86_64-linux-gnu/libcrypto.so.3: CFA by an expression, CFA from rbx)",
                                 "   0.1 %  truncated: mappings were being changed",
                                 "  <0.1 %  truncated: deeper than --stack-depth"}));
  ASSERT_EQ(causes.hints.size(), 1U);
  EXPECT_NE(causes.hints[0].find("-fno-omit-frame-pointer"), std::string::npos);
}

TEST(UnwindText, WithoutGuessingTheHintIsToGuess) {
  Sample sample = unwinding_sample();
  sample.snapshot.trace.unwind = "cfi";
  for (StackRecord& stack : sample.snapshot.stacks) {
    if (stack.guessed) stack.end = HAWK_END_NO_TABLE;
    stack.guessed = false;
  }
  const UnwindText::Causes causes = UnwindText(sample.snapshot, Quantity::kLive).causes();
  EXPECT_EQ(
      causes.lines.at(0),
      "  23.0 %  truncated: a file without unwind tables, or whose tables had not been read yet (/usr/bin/script)");
  ASSERT_EQ(causes.hints.size(), 1U);
  EXPECT_NE(causes.hints[0].find("--unwind auto"), std::string::npos);
}

TEST(UnwindText, ManyCausesAreSummedUp) {
  Sample sample = empty_sample();
  for (std::uint32_t id = 1; id <= 20; ++id) {
    const ModuleId module = sample.add_module("/lib/lib" + std::to_string(id), "");
    sample.add_stack(id, {100, 1, 0, 0}, {sample.call(module, {})}).end = HAWK_END_GAP;
  }
  const UnwindText::Causes causes = UnwindText(sample.snapshot, Quantity::kLive).causes();
  ASSERT_EQ(causes.lines.size(), 9U);
  EXPECT_EQ(causes.lines.back(), "  60.0 %  12 more");
}

}  // namespace
}  // namespace hawk
