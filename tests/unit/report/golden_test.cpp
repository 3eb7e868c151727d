#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/unit/report/golden_file.h"
#include "tests/unit/report/sample_snapshots.h"
#include "userspace/base/printable.h"
#include "userspace/export/format.h"
#include "userspace/export/text_report.h"

// Whole reports, compared byte for byte with tests/golden.
namespace hawk {
namespace {

struct GoldenCase {
  const char* name;
  Sample (*make)();
};

TextOptions text_options() {
  TextOptions options;
  options.role_of = sample_role_of;
  return options;
}

class Golden : public testing::TestWithParam<GoldenCase> {};

/// Formats for other tools: tests/unit/export/exchange_golden_test.cpp.
bool is_our_own(std::string_view format) { return format == "text" || format == "json"; }

TEST_P(Golden, InTextAndJson) {
  for (const Format& format : formats()) {
    if (!is_our_own(format.name)) continue;
    Sample sample = GetParam().make();
    const ReportRequest request = {.snapshot = sample.snapshot,
                                   .symbolizer = sample.symbolizer,
                                   .selection = {.top = format.is_for_people ? Selection().top : 0},
                                   .role_of = sample_role_of,
                                   .hawktrace_version = "0.0.0"};
    std::string report;
    format.write(request, [&](std::string_view piece) {
      report += piece;
      return true;
    });
    expect_golden(std::string(GetParam().name) + "." + format.extension, report);
  }
}

INSTANTIATE_TEST_SUITE_P(Samples, Golden,
                         testing::Values(GoldenCase{"empty", empty_sample}, GoldenCase{"service", service_sample},
                                         GoldenCase{"unsymbolized", unsymbolized_sample},
                                         GoldenCase{"lossy", lossy_sample}, GoldenCase{"deep", deep_sample},
                                         GoldenCase{"hostile", hostile_sample}, GoldenCase{"huge", huge_sample},
                                         GoldenCase{"unwinding", unwinding_sample},
                                         GoldenCase{"several", several_sample}),
                         [](const testing::TestParamInfo<GoldenCase>& golden) {
                           return std::string(golden.param.name);
                         });

TEST(GoldenVariants, FullStacksInRawBytes) {
  Sample sample = service_sample();
  TextOptions options = text_options();
  options.full_stacks = true;
  options.raw_bytes = true;
  expect_golden("service_full_raw.txt", render_text(sample.snapshot, sample.symbolizer, options));
}

/// A terminal that the report is made for.
struct TerminalCase {
  std::size_t columns;
  bool color;
};

class GoldenTerminals : public testing::TestWithParam<TerminalCase> {};

TEST_P(GoldenTerminals, Text) {
  const auto& [columns, color] = GetParam();
  for (const GoldenCase& golden : {GoldenCase{"service", service_sample}, GoldenCase{"lossy", lossy_sample}}) {
    Sample sample = golden.make();
    TextOptions options = text_options();
    options.width = columns;
    options.color = color;
    expect_golden(std::string(golden.name) + "_" + std::to_string(columns) + (color ? "_color.txt" : ".txt"),
                  render_text(sample.snapshot, sample.symbolizer, options));
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, GoldenTerminals,
                         testing::Values(TerminalCase{60, false}, TerminalCase{60, true}, TerminalCase{80, false},
                                         TerminalCase{80, true}, TerminalCase{140, false}, TerminalCase{140, true}));

TEST(GoldenVariants, AllocatedOnANarrowTerminal) {
  Sample sample = service_sample();
  TextOptions options = text_options();
  options.selection.sort = SortKey::kAllocated;
  options.selection.top = 2;
  options.width = 72;
  expect_golden("service_allocated_narrow.txt", render_text(sample.snapshot, sample.symbolizer, options));
}

TEST(GoldenVariants, UnwindingOnATerminal) {
  Sample sample = unwinding_sample();
  TextOptions options = text_options();
  options.width = 80;
  expect_golden("unwinding_narrow.txt", render_text(sample.snapshot, sample.symbolizer, options));
}

TEST(GoldenVariants, ByProcess) {
  Sample sample = several_sample();
  std::string text;
  for (const GroupKind kind : {GroupKind::kProcess, GroupKind::kExecutable, GroupKind::kCgroup}) {
    text += render_text(sample.snapshot, sample.symbolizer, text_options(), {}, {.by = kind});
  }
  for (const TreeDirection tree : {TreeDirection::kTopDown, TreeDirection::kBottomUp}) {
    text +=
        render_text(sample.snapshot, sample.symbolizer, text_options(), {}, {.by = GroupKind::kProcess, .tree = tree});
  }
  expect_golden("several_by.txt", text);
}

/// As under LC_ALL=C.
TEST(GoldenVariants, PlainCharacters) {
  Sample sample = unwinding_sample();
  TextOptions options = text_options();
  options.width = 80;
  set_character_set(CharacterSet::kAscii);
  const std::string report = render_text(sample.snapshot, sample.symbolizer, options);
  set_character_set(CharacterSet::kUnicode);
  for (const char c : report) ASSERT_TRUE(c == '\n' || (c >= ' ' && c <= '~')) << report;
  expect_golden("unwinding_ascii.txt", report);
}

TEST(GoldenVariants, Colors) {
  Sample sample = lossy_sample();
  TextOptions options = text_options();
  options.color = true;
  expect_golden("lossy_color.txt", render_text(sample.snapshot, sample.symbolizer, options));
}

}  // namespace
}  // namespace hawk
