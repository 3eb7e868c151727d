#include "userspace/report/loss_block.h"

#include <gtest/gtest.h>

#include <string>

namespace hawk {
namespace {

std::string text_of(const Losses& losses, std::size_t max_columns = 0) {
  std::string text;
  for (const StyledLine& line : render_losses(losses, losses.total() == 0, NumberStyle::kReadable, max_columns)) {
    text += line.render(max_columns, false) + "\n";
  }
  return text;
}

TEST(LossBlock, NothingLostIsOneLine) {
  EXPECT_EQ(text_of({}), "losses: 0, every number above is exact\n");
  EXPECT_EQ(text_of({}, 40), "losses: 0, every number above is exact\n");
}

TEST(LossBlock, EachCauseThatOccurredHasItsSentenceAndCount) {
  for (std::size_t cause = 0; cause < loss_texts().size(); ++cause) {
    Losses losses;
    losses.counts[cause] = 1234;
    const std::string text = text_of(losses);
    EXPECT_NE(text.find("losses: 1,234, the numbers above are NOT exact"), std::string::npos);
    EXPECT_NE(text.find("1,234  " + std::string(loss_texts()[cause].sentence)), std::string::npos);
    for (const LossText& other : loss_texts()) {
      EXPECT_EQ(text.find(other.sentence) != std::string::npos, &other == &loss_texts()[cause]) << other.sentence;
    }
  }
}

TEST(LossBlock, HintsNameTheOption) {
  Losses losses;
  losses[HAWK_LOSS_LIVE_TABLE_FULL] = 1;
  losses[HAWK_LOSS_STACK_TABLE_FULL] = 1;
  losses[HAWK_LOSS_FRAMES_FULL] = 1;
  losses[HAWK_LOSS_TRUNCATED_STACK] = 1;
  const std::string text = text_of(losses);
  EXPECT_NE(text.find("hint: raise --max-blocks, or --max-memory if it was set"), std::string::npos);
  EXPECT_NE(text.find("hint: raise --max-stacks\n"), std::string::npos);
  EXPECT_NE(text.find("hint: raise --max-stacks, or --max-memory if it was set"), std::string::npos);
  EXPECT_NE(text.find("hint: raise --stack-depth"), std::string::npos);
}

}  // namespace
}  // namespace hawk
