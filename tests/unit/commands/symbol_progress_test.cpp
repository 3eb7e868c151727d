#include "userspace/commands/symbol_progress.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "userspace/commands/report_progress.h"

namespace hawk {
namespace {

using std::chrono::milliseconds;

/// Takes a given time for each answer.
class SlowSymbolizer : public Symbolizer {
 public:
  std::vector<SourceFrame> frames(ModuleId module, std::uint64_t module_offset) override {
    now += takes;
    asked.push_back(module_offset);
    return {{.function = "f", .file = {}, .line = static_cast<std::uint32_t>(module), .inlined = false}};
  }
  void prepare(ModuleId, std::span<const std::uint64_t> offsets) override {
    now += takes * offsets.size();
    prepared.assign(offsets.begin(), offsets.end());
  }
  SymbolSource source(ModuleId) override { return SymbolSource::kSymtab; }

  std::chrono::steady_clock::time_point now;
  milliseconds takes{0};
  std::vector<std::uint64_t> asked;
  std::vector<std::uint64_t> prepared;
};

class SymbolProgress : public testing::Test {
 protected:
  ProgressOutlet outlet(bool is_terminal, std::size_t columns = 0) {
    return {.is_terminal = is_terminal,
            .columns = columns,
            .now = [this] { return slow_.now; },
            .put = [this](std::string_view text) { printed_.emplace_back(text); }};
  }
  /// Asks for `count` addresses, each of which takes `takes`.
  void ask(ProgressSymbolizer& progress, int count, milliseconds takes) {
    slow_.takes = takes;
    for (int i = 0; i < count; ++i) progress.frames(ModuleId{1}, static_cast<std::uint64_t>(i));
  }

  SlowSymbolizer slow_;
  std::vector<std::string> printed_;
};

using Lines = std::vector<std::string>;

TEST_F(SymbolProgress, PassesOn) {
  ProgressLine line(outlet(true));
  ProgressSymbolizer progress(slow_, line);
  EXPECT_EQ(progress.frames(ModuleId{3}, 0x10).at(0).line, 3U);
  EXPECT_EQ(progress.source(ModuleId{3}), SymbolSource::kSymtab);
  EXPECT_EQ(slow_.asked, std::vector<std::uint64_t>{0x10});
}

TEST_F(SymbolProgress, WorkOfLessThanASecondIsNotTalkedAbout) {
  for (const bool is_terminal : {false, true}) {
    ProgressLine line(outlet(is_terminal));
    ProgressSymbolizer progress(slow_, line);
    slow_.now += std::chrono::hours(1);  // what came before does not count
    progress.expect(1001);
    ask(progress, 999, milliseconds(1));
    ask(progress, 2, milliseconds(0));
  }
  EXPECT_EQ(printed_, Lines{});
}

TEST_F(SymbolProgress, PreparationIsPassedOnAndTalkedAbout) {
  ProgressLine line(outlet(false));
  ProgressSymbolizer progress(slow_, line);
  slow_.takes = milliseconds(600);
  progress.expect(4);
  const std::vector<std::uint64_t> offsets = {0x10, 0x20};
  progress.prepare(ModuleId{1}, offsets);
  EXPECT_EQ(slow_.prepared, offsets);
  EXPECT_EQ(printed_, Lines{"hawktrace: reading debug information, 0 of 4 addresses\n"});
}

TEST_F(SymbolProgress, LogGetsALineAtTheFirstSecondAndThenEveryFive) {
  ProgressLine line(outlet(false));
  ProgressSymbolizer progress(slow_, line);
  progress.expect(20'000);
  ask(progress, 11'000, milliseconds(1));
  EXPECT_EQ(printed_, (Lines{"hawktrace: reading debug information, 1,000 of 20,000 addresses\n",
                             "hawktrace: reading debug information, 6,000 of 20,000 addresses\n",
                             "hawktrace: reading debug information, 11,000 of 20,000 addresses\n"}));
  ask(progress, 9'000, milliseconds(0));
  EXPECT_EQ(printed_.size(), 3U) << "nothing to erase in a log";
}

TEST_F(SymbolProgress, TerminalsLineIsRewrittenAndErasedAtTheEnd) {
  ProgressLine line(outlet(true));
  ProgressSymbolizer progress(slow_, line);
  progress.expect(40);
  ask(progress, 10, milliseconds(99));
  EXPECT_EQ(printed_, Lines{});
  ask(progress, 1, milliseconds(10));
  const std::string first = "\rhawktrace: reading debug information, 11 of 40 addresses";
  EXPECT_EQ(printed_, Lines{first});
  ask(progress, 9, milliseconds(11));
  EXPECT_EQ(printed_.size(), 1U) << "99 ms after the first";
  ask(progress, 1, milliseconds(1));
  EXPECT_EQ(printed_.size(), 2U);
  EXPECT_EQ(printed_.back(), "\rhawktrace: reading debug information, 21 of 40 addresses");
  ask(progress, 18, milliseconds(0));
  EXPECT_EQ(printed_.size(), 2U);
  ask(progress, 1, milliseconds(0));
  ASSERT_EQ(printed_.size(), 3U);
  EXPECT_EQ(printed_.back(), "\r" + std::string(first.size() - 1, ' ') + "\r");
  ask(progress, 5, milliseconds(500));
  EXPECT_EQ(printed_.size(), 3U) << "what was not announced is not counted";
}

TEST_F(SymbolProgress, LineIsErasedWhenTheWorkIsGivenUp) {
  {
    ProgressLine line(outlet(true));
    ProgressSymbolizer progress(slow_, line);
    progress.expect(40);
    ask(progress, 1, milliseconds(2000));
    ASSERT_EQ(printed_.size(), 1U);
  }
  ASSERT_EQ(printed_.size(), 2U);
  EXPECT_EQ(printed_[1], "\r" + std::string(printed_[0].size() - 1, ' ') + "\r");
}

TEST_F(SymbolProgress, LineNeverWraps) {
  ProgressLine line(outlet(true, 20));
  ProgressSymbolizer progress(slow_, line);
  progress.expect(40);
  ask(progress, 1, milliseconds(2000));
  EXPECT_EQ(printed_, Lines{"\rhawktrace: reading "});
}

TEST_F(SymbolProgress, WrittenBytesAreShownAfterASecondToo) {
  ProgressLine line(outlet(true));
  std::string written;
  const ReportProducer produce = with_progress(
      [this](const TextSink& sink) {
        for (int i = 0; i < 3; ++i) {
          slow_.now += milliseconds(600);
          sink(std::string(1024, 'x'));
        }
      },
      line);
  produce([&written](std::string_view piece) {
    written += piece;
    return true;
  });
  EXPECT_EQ(written.size(), 3072U);
  ASSERT_EQ(printed_.size(), 3U);
  EXPECT_EQ(printed_[0], "\rhawktrace: writing the report, 2.00 KiB");
  EXPECT_EQ(printed_[1], "\rhawktrace: writing the report, 3.00 KiB");
  EXPECT_EQ(printed_[2], "\r" + std::string(printed_[1].size() - 1, ' ') + "\r");
}

TEST_F(SymbolProgress, WithoutAListenerNothingIsTold) {
  ProgressLine line(ProgressOutlet{});
  ProgressSymbolizer progress(slow_, line);
  progress.expect(40);
  ask(progress, 40, milliseconds(2000));
  EXPECT_EQ(slow_.asked.size(), 40U);
}

}  // namespace
}  // namespace hawk
