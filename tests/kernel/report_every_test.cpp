// Several reports of one trace (--report-every): each shows the changes since the previous one.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <signal.h>

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/kernel/harness/ledger.h"
#include "tests/support/scratch_directory.h"

namespace hawk {
namespace {

using nlohmann::json;

std::vector<std::string> command(const LedgerProgram& program, const std::vector<std::string>& options) {
  std::vector<std::string> words = {HAWKTRACE_PATH, "-p", std::to_string(program.pid()), "--report-every", "100ms"};
  words.insert(words.end(), options.begin(), options.end());
  return words;
}

std::uint64_t allocated(const json& report) { return report.at("totals").at("allocated_bytes"); }

TEST(report_every, changes_sum_up_to_the_totals) {
  LedgerProgram program({.program = "realloc_moves"});
  ChildProcess hawktrace({.argv = command(program, {"--format", "json"})});
  const json first = json::parse(hawktrace.read_line());
  EXPECT_FALSE(first.contains("since_previous_report"));
  EXPECT_EQ(allocated(first), 0U);
  program.run();
  std::uint64_t sum = 0;
  std::uint64_t sum_of_stacks = 0;
  json last = first;
  const auto take = [&](const std::string& line) {
    last = json::parse(line);
    const json& since = last.at("since_previous_report");
    sum += since.at("allocated_bytes").get<std::uint64_t>();
    EXPECT_GT(since.at("duration_ns").get<std::uint64_t>(), 0U);
    for (const json& stack : last.at("stacks")) {
      sum_of_stacks += stack.at("since_previous_report").at("allocated_bytes").get<std::uint64_t>();
    }
    EXPECT_EQ(sum, allocated(last));
    EXPECT_EQ(sum_of_stacks, sum);
  };
  while (allocated(last) == 0) take(hawktrace.read_line());
  hawktrace.send_signal(SIGINT);
  while (const std::optional<std::string> line = hawktrace.next_line()) take(*line);
  EXPECT_EQ(hawktrace.wait(), 0);
  EXPECT_TRUE(last.at("exact").get<bool>());
  EXPECT_GT(sum, 0U);
}

TEST(report_every, a_file_holds_all_of_them) {
  const ScratchDirectory directory;
  std::ofstream(directory.path("report")) << "what was there before\n";
  LedgerProgram program({.program = "realloc_moves"});
  ChildProcess hawktrace({.argv = command(program, {"-o", directory.path("report"), "--duration", "450ms"})});
  EXPECT_EQ(hawktrace.wait(), 0);
  std::stringstream text;
  text << std::ifstream(directory.path("report")).rdbuf();
  std::size_t reports = 0;
  for (std::size_t at = text.str().find("traced for"); at != std::string::npos;
       at = text.str().find("traced for", at + 1)) {
    ++reports;
  }
  EXPECT_GE(reports, 2U) << text.str();
  EXPECT_NE(text.str().find("since the previous report"), std::string::npos) << text.str();
  EXPECT_EQ(text.str().find("what was there"), std::string::npos);
  program.run();
}

/// The next report with that cause.
json next_because_of(ChildProcess& hawktrace, const std::string& cause) {
  for (;;) {
    json report = json::parse(hawktrace.read_line());
    if (report.at("trace").at("dump_cause") == cause) return report;
  }
}

json last_of(ChildProcess& hawktrace) {
  std::string last;
  while (const std::optional<std::string> line = hawktrace.next_line()) last = *line;
  return json::parse(last);
}

TEST(report_every, a_signal_asks_for_one_more_and_changes_nothing_else) {
  LedgerProgram program({.program = "realloc_moves"});
  ChildProcess hawktrace({.argv = command(program, {"--format", "json"})});
  hawktrace.read_line();
  for (int i = 0; i < 3; ++i) {
    hawktrace.send_signal(SIGUSR1);
    EXPECT_TRUE(next_because_of(hawktrace, "signal").contains("since_previous_report"));
    if (i == 1) program.run();
  }
  hawktrace.send_signal(SIGINT);
  const json last = last_of(hawktrace);
  EXPECT_EQ(hawktrace.wait(), 0);
  EXPECT_EQ(last.at("trace").at("dump_cause"), nullptr);
  EXPECT_TRUE(last.at("exact").get<bool>());
  EXPECT_GT(allocated(last), 0U);
}

TEST(report_every, what_is_allocated_asks_for_more) {
  LedgerProgram program({.program = "realloc_moves"});
  ChildProcess hawktrace(
      {.argv = command(program, {"--format", "json", "--dump-allocated", "1", "--interval", "100ms"})});
  hawktrace.read_line();
  program.run();
  EXPECT_GT(allocated(next_because_of(hawktrace, "allocated")), 0U);
  hawktrace.send_signal(SIGINT);
  last_of(hawktrace);
  EXPECT_EQ(hawktrace.wait(), 0);
}

TEST(report_every, what_tracing_took_is_said) {
  LedgerProgram program({.program = "realloc_moves"});
  ChildProcess hawktrace({.argv = command(program, {"--format", "json"})});
  hawktrace.read_line();
  program.run();
  hawktrace.send_signal(SIGINT);
  const json usage = last_of(hawktrace).at("usage");
  EXPECT_EQ(hawktrace.wait(), 0);
  EXPECT_GT(usage.at("cpu_ns").get<std::uint64_t>(), 1'000'000U);
  EXPECT_GT(usage.at("peak_resident_bytes").get<std::uint64_t>(), std::uint64_t{4} << 20);
  EXPECT_GT(usage.at("table_bytes").get<std::uint64_t>(), std::uint64_t{1} << 20);
  EXPECT_LT(usage.at("table_bytes").get<std::uint64_t>(), std::uint64_t{1} << 30);
}

TEST(report_every, ends_when_its_reader_is_gone) {
  LedgerProgram program({.program = "realloc_moves"});
  std::vector<std::string> words = {"/bin/sh", "-c", "\"$@\" | head -n 1", "sh"};
  for (const std::string& word : command(program, {"--format", "json"})) words.push_back(word);
  ChildProcess pipeline({.argv = words});
  EXPECT_TRUE(json::parse(pipeline.read_line()).contains("totals"));
  EXPECT_EQ(pipeline.wait(), 0);
  program.run();
}

}  // namespace
}  // namespace hawk
