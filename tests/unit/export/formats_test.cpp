#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/scratch_directory.h"
#include "tests/unit/report/sample_snapshots.h"
#include "userspace/export/format.h"
#include "userspace/export/report_output.h"

namespace hawk {
namespace {

std::string written(const Format& format, const ReportRequest& request) {
  std::string report;
  format.write(request, [&](std::string_view piece) {
    report += piece;
    return true;
  });
  return report;
}

TEST(Formats, NamesAndExtensionsAreDistinct) {
  std::set<std::string_view> names;
  std::set<std::string_view> extensions;
  for (const Format& format : formats()) {
    names.insert(format.name);
    extensions.insert(format.extension);
    EXPECT_NE(std::string_view(format.description), "") << format.name;
  }
  EXPECT_EQ(names.size(), formats().size());
  EXPECT_EQ(extensions.size(), formats().size());
}

TEST(Formats, ByDefaultAReportIsForPeople) { EXPECT_TRUE(formats().front().is_for_people); }

TEST(Formats, ReportsAreWholeLinesAndSeveralCanFollowEachOther) {
  for (const Format& format : formats()) {
    if (!format.can_follow) continue;
    Sample first = service_sample();
    Sample second = later_service_sample();
    const std::string alone =
        written(format, {.snapshot = first.snapshot, .symbolizer = first.symbolizer, .is_one_of_several = true});
    const std::string next = written(format, {.snapshot = second.snapshot,
                                              .symbolizer = second.symbolizer,
                                              .previous = &first.snapshot,
                                              .is_one_of_several = true});
    EXPECT_TRUE(alone.ends_with('\n')) << format.name;
    EXPECT_TRUE(next.ends_with('\n')) << format.name;
    EXPECT_NE(alone, next) << format.name;
  }
}

/// What each line of folded stacks begins with, and its sum.
std::map<std::string, std::uint64_t> folded_by_root(GroupKind by) {
  Sample sample = several_sample();
  const auto format = std::find_if(formats().begin(), formats().end(),
                                   [](const Format& one) { return std::string_view(one.name) == "folded"; });
  std::istringstream lines(written(
      *format,
      {.snapshot = sample.snapshot, .symbolizer = sample.symbolizer, .selection = {.top = 0}, .grouping = {.by = by}}));
  std::map<std::string, std::uint64_t> sums;
  for (std::string line; std::getline(lines, line);) {
    sums[line.substr(0, line.find(';'))] += std::stoull(line.substr(line.rfind(' ') + 1));
  }
  return sums;
}

TEST(Formats, StacksBeginWithWhoseTheyAre) {
  using Sums = std::map<std::string, std::uint64_t>;
  const Sample sample = several_sample();
  const std::vector<TargetPart>& parts = sample.snapshot.parts;
  const auto live = [&](std::size_t part) { return parts[part].totals.live_bytes(); };
  EXPECT_EQ(folded_by_root(GroupKind::kProcess), (Sums{{"shop-server (pid 4711)", live(0)},
                                                       {"shop-server (pid 4712)", live(1)},
                                                       {"shop-mailer (pid 4713)", live(2)}}));
  EXPECT_EQ(folded_by_root(GroupKind::kExecutable),
            (Sums{{"/opt/shop/bin/shop-server", live(0) + live(1)}, {"/opt/shop/bin/shop-mailer", live(2)}}));
  EXPECT_EQ(folded_by_root(GroupKind::kCgroup),
            (Sums{{"/system.slice/shop.service", sample.snapshot.totals.live_bytes()}}));
}

/// pprof's is compressed: readers_test.py looks into it.
TEST(Formats, AllThatHoldProcessesNameThem) {
  for (const Format& format : formats()) {
    if (format.groups == Format::Groups::kNone || !format.is_text) continue;
    Sample sample = several_sample();
    const std::string text = written(format, {.snapshot = sample.snapshot,
                                              .symbolizer = sample.symbolizer,
                                              .selection = {.top = 0},
                                              .grouping = {.by = GroupKind::kExecutable}});
    EXPECT_NE(text.find("/opt/shop/bin/shop-mailer"), std::string::npos) << format.name;
  }
}

TEST(Formats, AReportOfNothingIsAFileToo) {
  for (const Format& format : formats()) {
    Sample sample = empty_sample();
    ScratchDirectory directory;
    Result<ReportOutput> output = ReportOutput::make(directory.path("report"));
    ASSERT_TRUE(output);
    const ReportRequest request = {.snapshot = sample.snapshot, .symbolizer = sample.symbolizer};
    EXPECT_TRUE(output->write([&](const TextSink& sink) { format.write(request, sink); })) << format.name;
    EXPECT_TRUE(std::filesystem::exists(directory.path("report"))) << format.name;
  }
}

TEST(Formats, AReaderThatIsGoneEndsTheReport) {
  for (const Format& format : formats()) {
    Sample sample = service_sample();
    std::size_t pieces = 0;
    format.write({.snapshot = sample.snapshot, .symbolizer = sample.symbolizer, .is_one_of_several = true},
                 [&](std::string_view) {
                   ++pieces;
                   return false;
                 });
    EXPECT_EQ(pieces, 1U) << format.name;
  }
}

}  // namespace
}  // namespace hawk
