// How old live blocks are: by a clock that the test moves on, and by generations that begin between the phases of a
// program.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bpf/clock.h"
#include "tests/kernel/harness/compare.h"
#include "tests/kernel/harness/engine_world.h"
#include "tests/kernel/harness/kernel_test.h"
#include "tests/kernel/harness/ledger.h"
#include "tests/kernel/harness/ready_pipe.h"
#include "tests/kernel/harness/report.h"
#include "tests/support/scratch_directory.h"
#include "userspace/base/unix_time.h"

namespace hawk {
namespace {

constexpr std::uint64_t kPhases = 4;

/// What lives of a phase of ledgers/generations.c that its function has allocated.
Numbers expected(const Ledger& ledger, const std::string& function, std::uint64_t phase) {
  const auto value = [&](const char* what) { return ledger.values.at(function + what + std::to_string(phase)); };
  return {value("_bytes_"), value("_count_"), 0, 0};
}

Numbers expected(const Ledger& ledger, std::uint64_t phase) {
  Numbers sum = expected(ledger, "by_malloc", phase);
  sum += expected(ledger, "by_realloc", phase);
  return sum;
}

/// Lets the program run, with `between` before each phase but the first.
template <class Between>
Ledger run_phases(LedgerProgram& program, Between between) {
  program.send_byte();
  for (std::uint64_t phase = 1; phase < kPhases; ++phase) {
    EXPECT_EQ(program.read_line(), "phase");
    between(phase);
    program.send_byte();
  }
  return read_ledger(program);
}

/// Traces the program, with a mark before each phase but the first.
std::pair<Ledger, Report> trace_phases(Way way, const std::vector<std::string>& options) {
  LedgerProgram program({.program = "generations"});
  Trace trace = Trace::attach(program.pid(), way, options);
  Ledger ledger = run_phases(program, [&](std::uint64_t phase) { trace.mark(phase); });
  Report report = trace.finish();
  program.close_input();
  EXPECT_EQ(program.wait(), 0) << "the target lives on";
  return {std::move(ledger), std::move(report)};
}

void expect_generations(const Report& report, const Ledger& ledger) {
  std::map<std::pair<std::string, std::uint64_t>, Numbers> found;
  for (const ReportStack& stack : report.stacks) {
    for (const auto& [generation, live] : stack.generations) found[{stack.direct_caller(), generation}] += live;
  }
  for (const std::string function : {"by_malloc", "by_realloc"}) {
    for (std::uint64_t phase = 0; phase < kPhases; ++phase)
      EXPECT_EQ((found[{function, phase}]), expected(ledger, function, phase)) << function << " " << phase;
  }
}

KERNEL_TEST_OF_COUNTS(ages, marks_between_phases) {
  const auto [ledger, report] = trace_phases(way, {});
  expect_equal(report, ledger);
  expect_generations(report, ledger);
}

/// The clock of the system is set by years, forwards and back, each time that hawktrace asks for it: ages, lifetimes
/// and generations go by another.
constexpr Way kClockWays[] = {Way::kSessionArena, Way::kSessionHash};
KERNEL_TEST_ON(ages, while_the_clock_is_set, kClockWays) {
  constexpr std::uint64_t kTestMs = 10 * 60 * 1000, kYearNs = 365ULL * 24 * 3600 * 1'000'000'000;
  const ScratchDirectory directory;
  LedgerProgram program({.program = "generations"});
  ReadyPipe ready;
  ChildProcess::Setup setup{.argv = hawktrace_command(way, directory.path("report")),
                            .environment = {{"LD_PRELOAD", HAWK_WALL_CLOCK_PATH}},
                            .inherited = {ready.write_end()}};
  for (const std::string& word :
       {std::string("--ready-fd"), std::to_string(ready.write_end()), std::string("-p"), std::to_string(program.pid()),
        std::string("--histograms"), std::string("--max-age"), std::to_string(kTestMs / 1000) + "s"})
    setup.argv.push_back(word);
  ChildProcess hawktrace(setup);
  ASSERT_TRUE(ready.wait()) << hawktrace.errors();
  const Ledger ledger = run_phases(program, [&](std::uint64_t phase) {
    hawktrace.send_signal(SIGUSR2);
    const std::string said = "generation " + std::to_string(phase) + " begins";
    while (hawktrace.errors().find(said) == std::string::npos && !hawktrace.has_ended()) ::poll(nullptr, 0, 1);
  });
  hawktrace.send_signal(SIGINT);
  ASSERT_EQ(hawktrace.wait(), 0) << hawktrace.errors();
  const nlohmann::json trace = nlohmann::json::parse(std::ifstream(directory.path("report"))).at("trace");
  EXPECT_LT(trace.at("duration_ns").get<std::uint64_t>() / 1'000'000, kTestMs);
  const std::uint64_t now_ns = unix_time_ns(), start_ns = trace.at("start_unix_ns");
  EXPECT_GT(std::max(start_ns, now_ns) - std::min(start_ns, now_ns), kYearNs) << "it was set";
  const Report report = read_report(directory.path("report"));
  expect_generations(report, ledger);
  Numbers live;
  for (std::uint64_t phase = 0; phase < kPhases; ++phase) live += expected(ledger, phase);
  EXPECT_EQ(report.live, live) << "none is older than the test";
  std::uint64_t freed = 0;
  for (const ReportStack& stack : report.stacks) {
    for (const auto& [least_ms, count] : stack.lifetimes) {
      EXPECT_LT(least_ms, kTestMs);
      freed += count;
    }
  }
  EXPECT_GT(freed, 0u);
  program.close_input();
  EXPECT_EQ(program.wait(), 0) << "the target lives on";
}

/// The report is of nothing else then.
constexpr Way kBothTables[] = {Way::kSessionArena, Way::kSessionHash};
KERNEL_TEST_ON(ages, a_report_of_one_generation, kBothTables) {
  const auto [ledger, report] = trace_phases(way, {"--generation", "2"});
  EXPECT_TRUE(report.exact);
  EXPECT_EQ(report.live, expected(ledger, 2));
  Numbers sum;
  for (const ReportStack& stack : report.stacks) sum += stack.live;
  EXPECT_EQ(sum, expected(ledger, 2));
}

/// Of an engine, which here walks stacks along frame pointers.
constexpr Way kEngineWays[] = {Way::kSessionArena, Way::kSessionHash, Way::kMultiArena, Way::kMultiHash,
                               Way::kPerfHash};

/// A clock that goes as the test says. What is read goes through the kernel's tables; 90 days are beyond what a stamp
/// has exactly.
KERNEL_TEST_ON(ages, a_scripted_clock, kEngineWays) {
  constexpr std::array<std::uint64_t, kPhases> kTimesMs = {0, 700, 701, 90ULL * 24 * 3600 * 1000 + 12345};
  const TestEngine world(way);
  LedgerProgram program({.program = "generations"});
  Tracer tracer = Library().trace(*world.engine, program.pid(), world.features.pid_filter);
  const Ledger ledger =
      run_phases(program, [&](std::uint64_t phase) { world.engine->set_clock(hawk_stamp_of(kTimesMs[phase])); });
  tracer.stop();
  world.engine->stop();
  const auto ages = world.engine->read_lives();
  ASSERT_TRUE(ages.has_value());
  std::map<std::uint64_t, Numbers> found;
  for (const AgedBlocks& aged : ages->at(tracer.number()).ages) found[aged.born_ms] += {aged.bytes, aged.count, 0, 0};
  ASSERT_EQ(found.size(), kPhases);
  for (std::uint64_t phase = 0; phase < kPhases; ++phase) {
    const std::uint64_t known_ms = hawk_stamp_ms(hawk_stamp_of(kTimesMs[phase]));
    EXPECT_LE(kTimesMs[phase] - known_ms, kTimesMs[phase] >> HAWK_STAMP_FRACTION_BITS);
    EXPECT_EQ(found[known_ms], expected(ledger, phase)) << phase;
  }
  program.close_input();
  EXPECT_EQ(program.wait(), 0) << "the target lives on";
}

}  // namespace
}  // namespace hawk
