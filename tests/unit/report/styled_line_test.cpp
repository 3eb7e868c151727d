#include "userspace/report/styled_line.h"

#include <gtest/gtest.h>

#include "userspace/report/display_text.h"

namespace hawk {
namespace {

StyledLine sample_line() { return StyledLine{}.add("live ").add("12 MiB", Style::kStrong).add(" end", Style::kDim); }

TEST(StyledLine, WithoutColoursIsPlainText) {
  EXPECT_EQ(sample_line().render(0, false), "live 12 MiB end");
  EXPECT_EQ(sample_line().width(), 15U);
}

TEST(StyledLine, EveryColourIsClosed) {
  EXPECT_EQ(sample_line().render(0, true), "live \x1b[1m12 MiB\x1b[0m\x1b[2m end\x1b[0m");
}

TEST(StyledLine, CutsAtTheWidth) {
  EXPECT_EQ(sample_line().render(15, false), "live 12 MiB end");
  EXPECT_EQ(sample_line().render(14, false), "live 12 MiB e…");
  EXPECT_EQ(sample_line().render(11, false), "live 12 Mi…") << "a piece that fills the line is cut when more follows";
  EXPECT_EQ(sample_line().render(5, true), "live…");
}

TEST(StyledLine, NoWidthIsExceeded) {
  const StyledLine line = StyledLine{}.add("日本").add("語語", Style::kBad).add("x");
  for (std::size_t columns = 1; columns < 12; ++columns) {
    EXPECT_LE(display_width(line.render(columns, false)), columns) << columns;
  }
}

TEST(StyledLine, WhatIsAddedCannotCommandTheTerminal) {
  EXPECT_EQ(StyledLine{}.add("\x1b[31m").render(0, true), "\uFFFD[31m");
}

}  // namespace
}  // namespace hawk
