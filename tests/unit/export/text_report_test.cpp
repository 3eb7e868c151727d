#include "userspace/export/text_report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "tests/unit/report/sample_snapshots.h"
#include "userspace/report/display_text.h"

namespace hawk {
namespace {

TextOptions sample_options() {
  TextOptions options;
  options.role_of = sample_role_of;
  return options;
}

std::string text_of(Sample& sample, const TextOptions& options) {
  return render_text(sample.snapshot, sample.symbolizer, options);
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::vector<Sample> all_samples() {
  std::vector<Sample> samples;
  for (Sample (*make)() : {empty_sample, service_sample, later_service_sample, unsymbolized_sample, lossy_sample,
                           deep_sample, hostile_sample, huge_sample, unwinding_sample}) {
    samples.push_back(make());
  }
  return samples;
}

/// One stack that has freed all it allocated.
Sample freed_sample() {
  Sample sample = empty_sample();
  const ModuleId exe = sample.add_module("/usr/bin/busy", "");
  sample.add_stack(1, {4096, 2, 4096, 2}, {sample.call(exe, {function("work")})});
  return sample;
}

TEST(TextReport, WhereAllWasFreedItIsSaidHowToSeeWhoAllocated) {
  Sample sample = freed_sample();
  EXPECT_TRUE(contains(text_of(sample, sample_options()),
                       "hint: everything was freed; --sort allocated shows which stacks allocated most\n"));
  TextOptions options = sample_options();
  options.selection.sort = SortKey::kAllocated;
  EXPECT_FALSE(contains(text_of(sample, options), "everything was freed"));
  sample = service_sample();
  EXPECT_FALSE(contains(text_of(sample, sample_options()), "everything was freed"));
}

TEST(TextReport, ASummaryThatIsRepeatedRefersToTheWholeOne) {
  Sample sample = service_sample();
  TextOptions options = sample_options();
  options.rows = 5;
  const std::string text = text_of(sample, options);
  EXPECT_TRUE(contains(text, "top 3 of 4 stacks")) << text;
  EXPECT_EQ(text.find("shows all"), text.find("--full-stacks shows all") + 14) << "nothing was left out: " << text;
}

TEST(TextReport, NothingIsOlderThanATraceFromTheStart) {
  Sample sample = service_sample();
  sample.snapshot.memory = ProcessMemory{200 << 20, 180 << 20, 0, 1 << 20};
  EXPECT_TRUE(
      contains(text_of(sample, sample_options()), "the rest is memory from before the trace, mappings and stacks"));
  EXPECT_FALSE(contains(text_of(sample, sample_options()), "hint: most of the memory"));
  sample.snapshot.trace.from_start = true;
  const std::string text = text_of(sample, sample_options());
  EXPECT_TRUE(contains(text, "the rest is mappings and stacks, or the allocator's own\n")) << text;
  EXPECT_TRUE(contains(text, "hint: most of the memory of this process is not from malloc")) << text;
  sample.snapshot.memory->live_bytes = 100 << 20;
  EXPECT_FALSE(contains(text_of(sample, sample_options()), "hint: most of the memory"));
}

TEST(TextReport, HowToNameAnInterpretersFunctionsIsSaidUntilTheyAreNamed) {
  Sample sample = empty_sample();
  const ModuleId exe = sample.add_module("/usr/bin/python3.13", "");
  const Location resize = sample.call(exe, {function("list_resize")});
  sample.add_stack(1, {100, 1, 0, 0}, {resize});
  EXPECT_TRUE(contains(text_of(sample, sample_options()), "hint: to name Python functions, use python3 -X perf"));
  sample.add_stack(2, {100, 1, 0, 0}, {resize, sample.call_in_no_file(function("py::load", "svc.py", 0))});
  EXPECT_FALSE(contains(text_of(sample, sample_options()), "hint: to name Python functions, use python3 -X perf"));
}

TEST(TextReport, WhatFailedItsVerificationIsNotExact) {
  Sample sample = service_sample();
  sample.snapshot.trace.verified = false;
  const std::string text = text_of(sample, sample_options());
  EXPECT_TRUE(contains(text, ": NOT exact, verification failed\n")) << text;
  EXPECT_TRUE(contains(text, "verification failed: the numbers above are NOT exact\n")) << text;
  EXPECT_FALSE(contains(text, "every number above is exact")) << text;
}

TEST(TextReport, WhatIsLongerThanTheTerminalEndsWithItsSummary) {
  Sample sample = service_sample();
  TextOptions options = sample_options();
  const std::string plain = text_of(sample, options);
  const std::size_t line_count = lines_of(plain).size();
  options.rows = line_count + 1;
  EXPECT_EQ(text_of(sample, options), plain);
  options.rows = line_count;
  const std::string repeated = text_of(sample, options);
  ASSERT_TRUE(repeated.starts_with(plain));
  const std::string summary = repeated.substr(plain.size());
  EXPECT_TRUE(contains(summary, "shop-server")) << summary;
  EXPECT_TRUE(contains(summary, "top 3 of 4 stacks")) << summary;
  EXPECT_FALSE(contains(summary, "main.cpp:31")) << summary;
  EXPECT_TRUE(summary.ends_with(lines_of(plain).back() + "\n")) << summary;
}

TEST(TextReport, NoLineIsWiderThanTheTerminal) {
  for (Sample& sample : all_samples()) {
    for (const std::size_t width : {10, 40, 60, 80, 120}) {
      for (const bool full : {false, true}) {
        TextOptions options = sample_options();
        options.width = width;
        options.full_stacks = full;
        for (const std::string& line : lines_of(text_of(sample, options))) {
          // Of a whole name nothing is cut off.
          if (full && line.starts_with("      0x")) continue;
          EXPECT_LE(display_width(line), width) << line;
        }
      }
    }
  }
}

TEST(TextReport, NoSampleCanSendTheTerminalACommand) {
  for (Sample& sample : all_samples()) {
    const std::string text = text_of(sample, sample_options());
    for (const std::string& line : lines_of(text)) EXPECT_EQ(printable(line), line);
    EXPECT_TRUE(text.ends_with("\n"));
    EXPECT_FALSE(contains(text, "\n\n\n")) << text;
  }
}

TEST(TextReport, ColoursChangeNothingElse) {
  for (Sample& sample : all_samples()) {
    TextOptions options = sample_options();
    const std::string plain = text_of(sample, options);
    options.color = true;
    std::string colored = text_of(sample, options);
    EXPECT_TRUE(contains(colored, "\x1b[")) << "colours were asked for";
    for (std::size_t at = 0; (at = colored.find("\x1b[")) != std::string::npos;) {
      colored.erase(at, colored.find('m', at) - at + 1);
    }
    EXPECT_EQ(colored, plain);
  }
}

TEST(TextReport, OnlyShownStacksAreSymbolized) {
  Sample sample = service_sample();
  TextOptions options = sample_options();
  options.selection.top = 1;
  const std::string text = text_of(sample, options);
  EXPECT_EQ(sample.symbolizer.lookups(), 5U) << "the frames of stack 7";
  EXPECT_TRUE(contains(text, "top 1 of 4 stacks by live bytes"));
  EXPECT_TRUE(contains(text, "… 2 more stacks, live 768.63 KiB in 22 blocks (38.1 %)")) << text;
  EXPECT_TRUE(contains(text, "… 1 stack with nothing live")) << text;
}

TEST(TextReport, HeadlineStartsWithTheSortedQuantity) {
  Sample sample = service_sample();
  TextOptions options = sample_options();
  options.raw_bytes = true;
  options.selection.sort = SortKey::kAllocatedCount;
  EXPECT_TRUE(contains(text_of(sample, options),
                       "#1    99.4 %  allocated 10304000 B in 161000 blocks, average 64 B; live 640 B in 10 blocks\n"))
      << text_of(sample, options);
  options.selection.sort = SortKey::kFreedCount;
  EXPECT_TRUE(contains(text_of(sample, options),
                       "freed 10303360 B in 160990 blocks, average 64 B; live 640 B in 10 "
                       "blocks; allocated 10304000 B in 161000 blocks\n"));
  options.selection.sort = SortKey::kLiveCount;
  EXPECT_TRUE(
      contains(text_of(sample, options), "live 1280000 B in 1000 blocks, average 1280 B; allocated 1280000 B in 1000"));
}

TEST(TextReport, ZeroByteBlocksAreShownWhenSortedByLive) {
  Sample sample = empty_sample();
  sample.add_stack(1, {0, 5, 0, 0}, {sample.call(sample.add_module("/bin/x", ""), {function("zero_sized()")})});
  EXPECT_TRUE(contains(text_of(sample, sample_options()), "live 0 B in 5 blocks"));
  EXPECT_TRUE(contains(text_of(sample, sample_options()), "zero_sized"));
}

TEST(TextReport, FullStacksHideNothing) {
  Sample sample = deep_sample();
  TextOptions options = sample_options();
  options.full_stacks = true;
  const std::string text = text_of(sample, options);
  EXPECT_FALSE(contains(text, "…"));
  EXPECT_TRUE(contains(text, "std::__invoke_impl<int>()"));
  EXPECT_TRUE(contains(
      text,
      "0x00007f0000001200  layer1<double>(Matrix const&) (inlined)  /src/solver/kernel.h:10  (/usr/bin/solver+0x1200)"))
      << text;
}

TEST(TextReport, WhatStacksShareIsPrintedOnce) {
  Sample sample = empty_sample();
  const ModuleId exe = sample.add_module("/bin/x", "aabb");
  const std::vector<Location> outer = {sample.call(exe, {inlined("step()"), function("serve()")}),
                                       sample.call(exe, {function("run()")}), sample.call(exe, {function("main")})};
  const auto with = [&](const Location& inner) {
    std::vector<Location> frames = {inner};
    frames.insert(frames.end(), outer.begin(), outer.end());
    return frames;
  };
  sample.add_stack(1, {300, 1, 0, 0}, with(sample.call(exe, {function("keep()")})));
  sample.add_stack(2, {200, 1, 0, 0}, with(sample.call(exe, {function("cache()")})));
  sample.add_stack(3, {100, 1, 0, 0}, with(sample.call(exe, {function("std::deep()")})));
  TextOptions options = sample_options();
  const std::string text = text_of(sample, options);
  EXPECT_TRUE(contains(text, "\n      keep\n      step (inlined)\n      serve\n      run\n      main\n")) << text;
  EXPECT_TRUE(contains(text, "\n      cache\n      … 4 frames as in #1\n")) << text;
  EXPECT_TRUE(contains(text, "\n      step (inlined)\n      … 3 frames as in #1\n")) << "what decides is shown" << text;
  EXPECT_TRUE(contains(text, "--full-stacks shows all")) << text;
  options.full_stacks = true;
  EXPECT_FALSE(contains(text_of(sample, options), "as in"));
}

TEST(TextReport, FullStacksKeepWholeNamesOnEveryTerminal) {
  Sample sample = empty_sample();
  const std::string name = "Handler<" + std::string(36'000, 'x') + ">::keep(int)";
  sample.add_stack(1, {300, 1, 0, 0}, {sample.call(sample.add_module("/bin/x", ""), {function(name)})});
  TextOptions options = sample_options();
  EXPECT_TRUE(contains(text_of(sample, options), "      Handler<...>::keep\n"));
  options.width = 80;
  options.full_stacks = true;
  EXPECT_TRUE(contains(text_of(sample, options), "  " + name));
}

TEST(TextReport, NoNumberIsCutOffOnAnOrdinaryTerminal) {
  for (Sample& sample : all_samples()) {
    TextOptions options = sample_options();
    options.selection.top = 2;
    options.width = 80;
    if (sample.snapshot.target().comm == "huge") options.width = 100;
    const std::string text = text_of(sample, options);
    for (const std::string& line : lines_of(text)) {
      const bool frame = line.starts_with("      ");
      EXPECT_TRUE(frame || !line.ends_with("…")) << line;
    }
  }
}

TEST(TextReport, OneLineIsMarkedAsInterrupted) {
  Sample sample = unwinding_sample();
  TextOptions options = sample_options();
  const std::string text = text_of(sample, options);
  EXPECT_TRUE(contains(text,
                       "      Node::next (inlined)  script/node.h:9\n"
                       "      collect (interrupted by a signal)  script/heap.cpp:77\n"))
      << text;
}

TEST(TextReport, MinSizeIsNamed) {
  Sample sample = service_sample();
  TextOptions options = sample_options();
  options.selection.min_size_bytes = 1 << 20;
  EXPECT_TRUE(contains(text_of(sample, options), "top 1 of 4 stacks by live bytes, of 1.00 MiB or more\n"));
}

TEST(TextReport, EveryPlaceIsLookedUpOnceAndBeforeTheFirstPiece) {
  Sample sample = deep_sample();
  TextOptions options = sample_options();
  std::size_t announced = 0;
  options.before_symbolizing = [&](std::size_t count) { announced = count; };
  std::size_t lookups_at_first_piece = 0;
  write_text(sample.snapshot, sample.symbolizer, options, [&](std::string_view) {
    if (lookups_at_first_piece == 0) lookups_at_first_piece = sample.symbolizer.lookups();
    return true;
  });
  EXPECT_EQ(announced, 6U);
  EXPECT_EQ(lookups_at_first_piece, 6U);
  EXPECT_EQ(sample.symbolizer.lookups(), 6U);
}

TEST(TextReport, PiecesStayBoundedAndStopWhenTheReaderIsGone) {
  Sample sample = empty_sample();
  const ModuleId exe = sample.add_module("/bin/x", "aabb");
  std::vector<Location> frames;
  for (int i = 0; i < 4; ++i) frames.push_back(sample.call(exe, {function("grow()", "x.c", 1)}));
  for (std::uint32_t id = 1; id <= 1000; ++id) sample.add_stack(id, {id, 1, 0, 0}, frames);
  TextOptions options = sample_options();
  options.selection.top = 0;
  std::string report;
  std::size_t largest = 0;
  write_text(sample.snapshot, sample.symbolizer, options, [&](std::string_view piece) {
    largest = std::max(largest, piece.size());
    report += piece;
    return true;
  });
  EXPECT_EQ(report, text_of(sample, options));
  EXPECT_GT(report.size(), 130'000U);
  EXPECT_LT(largest, 70'000U);
  EXPECT_EQ(report.find("\n\n\n"), std::string::npos) << "no blank line more where a piece ends";
  std::size_t calls = 0;
  write_text(sample.snapshot, sample.symbolizer, options, [&](std::string_view) {
    ++calls;
    return false;
  });
  EXPECT_EQ(calls, 1U);
}

}  // namespace
}  // namespace hawk
