#include "userspace/report/loss_block.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/report/sample_snapshots.h"

namespace hawk {
namespace {

std::string text_of(const Snapshot& snapshot, std::size_t max_columns = 0) {
  std::string text;
  for (const StyledLine& line : render_losses(snapshot, NumberStyle::kReadable, max_columns)) {
    text += line.render(max_columns, false) + "\n";
  }
  return text;
}

Snapshot with_losses(std::initializer_list<hawk_loss> causes, std::uint64_t count) {
  Snapshot snapshot;
  for (const hawk_loss cause : causes) snapshot.losses[cause] = count;
  return snapshot;
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(LossBlock, OneLineWhereNothingWasMissed) {
  EXPECT_EQ(text_of({}), "nothing was missed: every number above is exact except the peak, which is a lower bound\n");
}

TEST(LossBlock, EachCauseThatOccurredHasItsSentenceAndCountBelowItsPromise) {
  for (std::size_t cause = 0; cause < loss_texts().size(); ++cause) {
    Snapshot snapshot;
    snapshot.losses.counts[cause] = 1234;
    const std::string text = text_of(snapshot);
    const Promise promise = loss_texts()[cause].promise;
    EXPECT_EQ(contains(text, "the numbers above are NOT exact:"), promise == Promise::kNumbers) << text;
    EXPECT_EQ(contains(text, "not every stack is complete:"), promise == Promise::kStacks) << text;
    EXPECT_EQ(contains(text, "the numbers cover only this process:"), promise == Promise::kChildren) << text;
    EXPECT_TRUE(contains(text, "1,234  " + worded_for(1234, loss_texts()[cause].sentence))) << text;
    EXPECT_FALSE(contains(text, "nothing was missed"));
    snapshot.losses.counts[cause] = 1;
    EXPECT_TRUE(contains(text_of(snapshot), "  1  " + worded_for(1, loss_texts()[cause].sentence)));
  }
}

TEST(LossBlock, HintsNameTheOption) {
  const Snapshot snapshot = with_losses(
      {HAWK_LOSS_LIVE_TABLE_FULL, HAWK_LOSS_STACK_TABLE_FULL, HAWK_LOSS_FRAMES_FULL, HAWK_LOSS_TRUNCATED_STACK}, 1);
  const std::string text = text_of(snapshot);
  EXPECT_TRUE(contains(text, "hint: raise --max-blocks\n")) << text;
  EXPECT_TRUE(contains(text, "hint: raise --max-stacks\n")) << text;
  EXPECT_TRUE(contains(text, "hint: raise --stack-depth\n")) << text;
  Snapshot bounded = snapshot;
  bounded.trace.limits.has_max_memory = true;
  EXPECT_TRUE(contains(text_of(bounded), "hint: raise --max-blocks, or --max-memory\n"));
  EXPECT_TRUE(contains(text_of(bounded), "hint: raise --max-stacks, or --max-memory\n"));
}

/// What is as large as it can be is not to be raised.
TEST(LossBlock, NoHintToRaiseWhatIsAtItsMaximum) {
  Snapshot snapshot = with_losses(
      {HAWK_LOSS_LIVE_TABLE_FULL, HAWK_LOSS_STACK_TABLE_FULL, HAWK_LOSS_FRAMES_FULL, HAWK_LOSS_TRUNCATED_STACK}, 1);
  snapshot.trace.limits = {.may_raise_blocks = false, .may_raise_stacks = false, .may_raise_depth = false};
  EXPECT_FALSE(contains(text_of(snapshot), "raise")) << text_of(snapshot);
  snapshot.trace.limits.has_max_memory = true;
  EXPECT_TRUE(contains(text_of(snapshot), "hint: raise --max-memory\n"));
}

TEST(LossBlock, AGoProgramIsToldWhichToolReadsItsHeap) {
  Snapshot snapshot = with_losses({HAWK_LOSS_NO_ALLOCATOR}, 1);
  EXPECT_TRUE(contains(text_of(snapshot), "stripped static programs cannot be traced"));
  snapshot.target().is_go = true;
  EXPECT_FALSE(contains(text_of(snapshot), "stripped"));
  EXPECT_TRUE(contains(text_of(snapshot), "net/http/pprof"));
}

TEST(LossBlock, ChildrenAreNamed) {
  Snapshot snapshot = with_losses({HAWK_LOSS_UNTRACED_CHILD}, 1);
  snapshot.children.programs = {{"cc1plus", 1}};
  EXPECT_TRUE(contains(text_of(snapshot), "1  child process not traced: cc1plus\n"));
  snapshot.losses[HAWK_LOSS_UNTRACED_CHILD] = 6;
  snapshot.children = {.without_exec = 2, .programs = {{"sh", 3}, {"ls", 1}}};
  EXPECT_TRUE(contains(text_of(snapshot),
                       "6  child processes not traced: sh (3 times), ls and 2 copies of the process itself\n"))
      << text_of(snapshot);
}

TEST(LossBlock, IsWrappedToTheTerminalsWidth) {
  for (std::size_t cause = 0; cause < loss_texts().size(); ++cause) {
    Snapshot snapshot;
    snapshot.losses.counts[cause] = 1;
    EXPECT_FALSE(contains(text_of(snapshot, 60), "…")) << text_of(snapshot, 60);
  }
}

}  // namespace
}  // namespace hawk
