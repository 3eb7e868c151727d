// Recordings of several processes on the command line: which is shown, and all of them together.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "tests/support/scratch_directory.h"
#include "tests/unit/recording/recorded_series.h"
#include "userspace/commands/diff.h"
#include "userspace/commands/report.h"
#include "userspace/export/format.h"
#include "userspace/recording/recording_writer.h"

namespace hawk {
namespace {

using nlohmann::json;

/// Three processes: the second begins and ends while the first is traced, and the third has its number.
class RecordedTargets : public ::testing::Test {
 protected:
  RecordedTargets() {
    Result<RecordingWriter> writer = RecordingWriter::create(path, false);
    RecordedSeries first(40, 6);
    first.snapshot().target().pid = 100;
    constexpr std::uint64_t kSecond = 1'000'000'000;
    const auto make = [&](std::size_t stacks, std::uint64_t after_seconds) {
      RecordedSeries series(stacks, 4);
      series.snapshot().target().pid = 200;
      series.snapshot().trace.start_unix_ns += after_seconds * kSecond;
      return series;
    };
    RecordedSeries second = make(25, 2);
    RecordedSeries third = make(10, 5);
    third.snapshot().losses.counts[1] = 4;
    const auto numbers = {*writer->begin_trace(), *writer->begin_trace(), *writer->begin_trace()};
    const recording::TraceNumber* number = numbers.begin();
    for (int time = 1; time <= 8; ++time) {
      first.advance(7);
      EXPECT_TRUE(time == 8 ? writer->finish(first.state(), number[0]) : writer->append(first.state(), number[0]));
      if (time == 3 || time == 4) {
        second.advance(5);
        second.snapshot().trace.target_exited = time == 4;
        EXPECT_TRUE(time == 4 ? writer->finish(second.state(), number[1]) : writer->append(second.state(), number[1]));
      }
      if (time == 6) {
        third.advance(5);
        EXPECT_TRUE(writer->finish(third.state(), number[2]));
      }
    }
    last = {first.snapshot(), second.snapshot(), third.snapshot()};
  }

  static std::string output_of(Result<int> (*command)(int, const char* const*), const std::vector<std::string>& words,
                               const std::string& out) {
    std::vector<const char*> argv = {"hawktrace"};
    for (const std::string& word : words) argv.push_back(word.c_str());
    argv.insert(argv.end(), {"-o", out.c_str()});
    const Result<int> status = command(static_cast<int>(argv.size()), argv.data());
    if (!status) return status.error().what + "\nhint: " + status.error().hint;
    EXPECT_EQ(*status, 0);
    std::ifstream file(out, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::string report(std::vector<std::string> options) const {
    options.insert(options.begin(), {"report", path, "-q"});
    return output_of(report_command, options, directory.path("out"));
  }
  json json_of(const std::string& target, std::vector<std::string> options = {}) const {
    options.insert(options.end(), {"--format", "json", "--target", target});
    return json::parse(report(options));
  }

  const ScratchDirectory directory;
  const std::string path = directory.path("heap.hawk");
  std::vector<Snapshot> last;
};

TEST_F(RecordedTargets, OneIsChosenByItsIdOrItsNumber) {
  EXPECT_EQ(json_of("100").at("totals").at("live_bytes"), last[0].totals.live_bytes());
  EXPECT_EQ(json_of("@1").at("target").at("pid"), 100);
  EXPECT_EQ(json_of("@2").at("totals").at("live_bytes"), last[1].totals.live_bytes());
  EXPECT_EQ(json_of("@3").at("totals").at("live_bytes"), last[2].totals.live_bytes());
  EXPECT_TRUE(json_of("@2").at("exact"));
  EXPECT_FALSE(json_of("@3").at("exact")) << "each by itself";
}

TEST_F(RecordedTargets, WhatNamesNoneIsAnError) {
  EXPECT_NE(report({"--target", "300"})
                .find("holds no process 300\nhint: --target takes all, or one of: 100 (service), 200 (service)"),
            std::string::npos)
      << report({"--target", "300"});
  EXPECT_NE(report({"--target", "200"}).find("holds 2 processes with the id 200\nhint: --target @2"), std::string::npos)
      << report({"--target", "200"});
  EXPECT_NE(report({"--target", "@4"}).find("--target @4: "), std::string::npos);
  for (const char* wrong : {"@0", "@", "x", "al", "-1", "@65537"}) {
    EXPECT_NE(report({"--target", wrong}).find("--target"), std::string::npos) << wrong;
    EXPECT_EQ(report({"--target", wrong}).find("holds"), std::string::npos) << wrong;
  }
}

TEST_F(RecordedTargets, AllAddUp) {
  const json all = json_of("all", {"--top", "0"});
  ASSERT_EQ(all.at("targets").size(), 3U);
  EXPECT_EQ(all.at("targets")[2].at("pid"), 200);
  std::uint64_t live = 0, allocated = 0, in_stacks = 0;
  for (const Snapshot& snapshot : last) {
    live += snapshot.totals.live_bytes();
    allocated += snapshot.totals.allocated_bytes;
  }
  for (const json& stack : all.at("stacks")) in_stacks += stack.at("live_bytes").get<std::uint64_t>();
  EXPECT_EQ(all.at("totals").at("live_bytes"), live);
  EXPECT_EQ(all.at("totals").at("allocated_bytes"), allocated);
  EXPECT_EQ(in_stacks, live);
  EXPECT_GE(all.at("totals").at("peak_live_bytes"), live);
  EXPECT_FALSE(all.at("exact")) << "one is not";
  EXPECT_EQ(all.at("trace").at("duration_ns"), 8'000'000'000);
  const std::string text = report({"--target", "all"});
  EXPECT_TRUE(text.starts_with("3 processes, traced for 8.0 s: NOT exact (1 of 3 processes)\n")) << text;
  EXPECT_EQ(report({}), text) << "all, if nothing is said";
  for (std::size_t i = 0; i < last.size(); ++i) {
    EXPECT_EQ(all.at("targets")[i].at("totals").at("live_bytes"), last[i].totals.live_bytes());
    EXPECT_EQ(all.at("targets")[i].at("exact"), i != 2);
  }
}

TEST_F(RecordedTargets, TimesAreThoseOfTheRecording) {
  // The second is traced from 2 s to 4 s.
  EXPECT_EQ(json_of("@2", {"--at", "3s"}).at("trace").at("duration_ns"), 1'000'000'000);
  EXPECT_EQ(json_of("all", {"--at", "3s"}).at("targets").size(), 2U);
  EXPECT_EQ(json_of("100", {"--at", "3s"}).at("trace").at("duration_ns"), 3'000'000'000);
  EXPECT_NE(report({"--at", "2500ms", "--target", "@2"}).find("--target @2: "), std::string::npos);
}

TEST_F(RecordedTargets, AreListed) {
  const std::string list = report({"--targets"});
  EXPECT_NE(list.find("@1        100 service          from 0.000s to 8.000s  live "), std::string::npos) << list;
  EXPECT_NE(list.find("@2        200 service          from 2.000s to 4.000s, its end  live "), std::string::npos)
      << list;
  EXPECT_NE(list.find("@3        200 service          from 5.000s to 6.000s  live "), std::string::npos) << list;
  EXPECT_NE(list.find("NOT exact\n"), std::string::npos) << list;
}

TEST_F(RecordedTargets, EveryFormatTakesOneOrAll) {
  for (const Format& format : formats()) {
    for (const char* target : {"@1", "@3", "all"}) {
      const std::vector<std::string> words = {"export", path, "-q", "--to", format.name, "--target", target};
      EXPECT_GT(output_of(export_command, words, directory.path("out")).size(), 100U) << format.name << ' ' << target;
    }
  }
  std::uint64_t folded = 0;
  const std::string text =
      output_of(export_command, {"export", path, "--to", "folded", "--target", "all"}, directory.path("out"));
  for (std::size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
    folded += std::stoull(text.substr(text.rfind(' ', end) + 1));
  }
  EXPECT_EQ(folded, json_of("all").at("totals").at("live_bytes"));
}

TEST_F(RecordedTargets, AreCompared) {
  const auto change = [&](const char* target) {
    const std::vector<std::string> words = {"diff", path, "--from", "1s", "--target", target, "--format", "json"};
    return json::parse(output_of(diff_command, words, directory.path("out"))).at("change").at("allocated_bytes");
  };
  const std::uint64_t first = json_of("100", {"--at", "1s"}).at("totals").at("allocated_bytes");
  EXPECT_EQ(change("100"), last[0].totals.allocated_bytes - first);
  EXPECT_EQ(change("all"), json_of("all").at("totals").at("allocated_bytes").get<std::uint64_t>() - first);
}

TEST_F(RecordedTargets, AreToldApart) {
  const json rows = json_of("all", {"--by", "process"}).at("groups").at("rows");
  ASSERT_EQ(rows.size(), 3U);
  std::multiset<std::uint64_t> live, expected;
  for (const json& row : rows) live.insert(row.at("self").at("live_bytes").get<std::uint64_t>());
  for (const Snapshot& snapshot : last) expected.insert(snapshot.totals.live_bytes());
  EXPECT_EQ(live, expected);
  EXPECT_EQ(json_of("all", {"--by", "exe"}).at("groups").at("rows").size(), 1U) << "all run the same";
  const std::string folded =
      output_of(export_command, {"export", path, "-q", "--to", "folded", "--by", "process"}, directory.path("out"));
  EXPECT_NE(folded.find("service (pid 100);"), std::string::npos) << folded;
  EXPECT_NE(folded.find("service (pid 200);"), std::string::npos) << folded;
}

/// Stacks of one process are not compared with those of another.
TEST_F(RecordedTargets, AreComparedEachWithItself) {
  const auto compared = [&](const std::vector<std::string>& by) {
    std::vector<std::string> words = {"diff", path, "--from", "1s", "--top", "0", "--format", "json"};
    words.insert(words.end(), by.begin(), by.end());
    return json::parse(output_of(diff_command, words, directory.path("out")));
  };
  const json sums = compared({});
  const json each = compared({"--by", "process"});
  EXPECT_TRUE(sums.at("after").at("target").is_null());
  EXPECT_EQ(sums.at("after").at("targets").size(), 3U);
  EXPECT_EQ(sums.at("before").at("target").at("pid"), 100);
  EXPECT_EQ(each.at("change"), sums.at("change"));
  EXPECT_GE(each.at("changed_stacks"), sums.at("changed_stacks"));
  std::set<std::string> roots;
  for (const json& stack : each.at("stacks")) roots.insert(stack.at("frames").back().at("function"));
  EXPECT_EQ(roots, (std::set<std::string>{"service (pid 100)", "service (pid 200)"}));
  const std::vector<std::string> wrong = {"diff", path, "--from", "1s", "--by", "function"};
  EXPECT_NE(output_of(diff_command, wrong, directory.path("out")).find("--by"), std::string::npos);
}

}  // namespace
}  // namespace hawk
