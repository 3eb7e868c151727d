#include "tests/hostile/judge.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "tests/kernel/harness/child_process.h"
#include "tests/kernel/harness/compare.h"
#include "tests/kernel/harness/ledger.h"
#include "tests/kernel/harness/own_libc.h"
#include "tests/kernel/harness/ready_pipe.h"
#include "tests/kernel/harness/report.h"
#include "tests/support/scratch_directory.h"

namespace hawk {
namespace {

using Clock = std::chrono::steady_clock;

/// In which hawktrace has to attach, and to end. The kernel removes perf events one after the other, those of other
/// tests as well, and waits for each.
constexpr std::chrono::seconds time_limit(Road road) { return std::chrono::seconds(road == Road::kPerf ? 60 : 20); }

/// What a target has said, and how it ended.
struct Conversation {
  pid_t pid = -1;                       ///< whom to trace
  std::vector<std::string> words = {};  ///< "said ...", and "done" where it came so far
  std::vector<std::string> lines = {};  ///< of the ledger, as they were written
  Ledger ledger = {};
  std::string errors = {};
  int status = -1;
};

void take_line(const std::string& line, Conversation& conversation) {
  if (line.starts_with("pid ")) {
    conversation.pid = std::stoi(line.substr(4));
  } else if (line.starts_with("said ") || line == "done" || line == "ready") {
    conversation.words.push_back(line);
  } else {
    conversation.lines.push_back(line);
    read_ledger_entry(line, conversation.ledger);
  }
}

/// Takes the target's lines up to `last`, or to its end.
void listen(ChildProcess& to, const std::string& last, Conversation& conversation) {
  for (std::optional<std::string> line = to.next_line(); line; line = to.next_line()) {
    take_line(*line, conversation);
    if (*line == last) return;
  }
}

/// The conversation, with two moments in which the trace may begin and end.
Conversation converse(ChildProcess& target, const std::function<void(pid_t)>& begin, const std::function<void()>& end) {
  Conversation conversation{.pid = target.pid()};
  listen(target, "ready", conversation);
  begin(conversation.pid);
  target.send_byte();
  listen(target, "done", conversation);
  end();
  target.close_input();
  listen(target, "", conversation);
  conversation.status = target.wait();
  conversation.errors = target.errors();
  return conversation;
}

Conversation run_alone(const ChildProcess::Setup& setup) {
  ChildProcess target(setup);
  return converse(
      target, [](pid_t) {}, [] {});
}

ChildProcess::Setup setup_of(const HostileTarget& target, const ScratchDirectory& directory) {
  const std::string& program = target.program.empty() ? target.name : target.program;
  ChildProcess::Setup setup{.argv = {program.starts_with("/") ? program : HAWK_HOSTILE_DIR "/" + program},
                            .environment = target.environment};
  setup.argv.insert(setup.argv.end(), target.arguments.begin(), target.arguments.end());
  if (target.has_own_libc) setup.environment.merge(with_own_libc(directory));
  return setup;
}

/// What came of a trace.
struct Outcome {
  int status = -1;
  std::string errors = {};
  std::optional<Report> report = {};
};

std::vector<std::string> hawktrace_command(const HostileTarget& target, Road road, const std::string& report) {
  std::vector<std::string> argv{HAWKTRACE_PATH, "--attach-via", road_name(road), "--format", "json",
                                "-o",           report,         "--top",         "0",        "--verify"};
  argv.insert(argv.end(), target.options.begin(), target.options.end());
  return argv;
}

void read_report_into(Outcome& outcome, const std::string& path) {
  if (access(path.c_str(), R_OK) == 0 && outcome.status != 3 && outcome.status != 4) outcome.report = read_report(path);
}

/// A hawktrace beside the target.
class Tracing {
 public:
  Tracing(const HostileTarget& target, Road road)
      : command_(hawktrace_command(target, road, directory_.path("report.json"))), time_limit_(time_limit(road)) {}

  /// Returns when it counts, or has ended.
  void begin(pid_t pid) {
    ReadyPipe ready;
    ChildProcess::Setup setup{.argv = command_, .inherited = {ready.write_end()}};
    for (const std::string& word :
         {std::string("--ready-fd"), std::to_string(ready.write_end()), std::string("-p"), std::to_string(pid)}) {
      setup.argv.push_back(word);
    }
    const Clock::time_point start = Clock::now();
    process_ = std::make_unique<ChildProcess>(setup);
    ready.wait();
    EXPECT_LT(Clock::now() - start, time_limit_) << "to attach: " << process_->errors();
  }

  void end() {
    const Clock::time_point start = Clock::now();
    process_->send_signal(SIGINT);
    outcome_.status = process_->wait();
    EXPECT_LT(Clock::now() - start, time_limit_) << "to end: " << process_->errors();
    outcome_.errors = process_->errors();
    read_report_into(outcome_, directory_.path("report.json"));
  }

  const Outcome& outcome() const { return outcome_; }

 private:
  ScratchDirectory directory_;
  std::vector<std::string> command_;
  std::chrono::seconds time_limit_;
  std::unique_ptr<ChildProcess> process_;
  Outcome outcome_;
};

/// `hawktrace -- COMMAND`: the command's words come through hawktrace's standard streams, and so does its status.
std::pair<Conversation, Outcome> run_from_start(const HostileTarget& target, const ChildProcess::Setup& alone,
                                                Road road) {
  const ScratchDirectory directory;
  ChildProcess::Setup setup{.argv = hawktrace_command(target, road, directory.path("report.json")),
                            .environment = alone.environment};
  setup.argv.insert(setup.argv.end(), {"--no-follow", "--"});
  setup.argv.insert(setup.argv.end(), alone.argv.begin(), alone.argv.end());
  const Clock::time_point start = Clock::now();
  ChildProcess both(setup);
  Conversation conversation = converse(
      both, [](pid_t) {}, [] {});
  EXPECT_LT(Clock::now() - start, 2 * time_limit(road)) << conversation.errors;
  Outcome outcome{.status = conversation.status, .errors = conversation.errors};
  read_report_into(outcome, directory.path("report.json"));
  conversation.errors.clear();
  return {conversation, outcome};
}

std::string text_of(const Report& report) {
  std::string text = report.numbers_exact ? "exact" : "not exact";
  for (const auto& [cause, count] : report.losses) {
    if (count > 0) text += ", " + cause + " " + std::to_string(count);
  }
  return text;
}

Numbers truth_of(const Ledger& ledger) {
  if (ledger.totals) return *ledger.totals;
  Numbers sum;
  for (const auto& [function, numbers] : ledger.sites) sum += numbers;
  return sum;
}

/// Differences of so many blocks are no error: the target was killed between a call and its note of it.
std::uint64_t slack_of(const Ledger& ledger) {
  const auto slack = ledger.values.find("slack");
  return slack == ledger.values.end() ? 0 : slack->second;
}

void expect_right(const Report& report, const Ledger& ledger) {
  expect_sound(report);
  const Numbers truth = truth_of(ledger);
  const std::uint64_t slack = slack_of(ledger);
  if (slack == 0) {
    EXPECT_EQ(report.totals, truth) << "exact means exact";
    return;
  }
  EXPECT_LE(report.totals.allocated_count, truth.allocated_count + slack);
  EXPECT_GE(report.totals.allocated_count + slack, truth.allocated_count);
  EXPECT_LE(report.totals.freed_count, truth.freed_count + slack);
  EXPECT_GE(report.totals.freed_count + slack, truth.freed_count);
}

/// Something was missed, so nothing may be too much: what was not done is not reported, unless it says how much that
/// is.
void expect_counted(const Report& report, const Ledger& ledger, const std::string& cause) {
  expect_sound(report);
  std::uint64_t all = 0;
  for (const auto& [name, count] : report.losses) all += count;
  EXPECT_GT(all, 0u) << "not exact, and no cause";
  if (!cause.empty()) {
    EXPECT_TRUE(report.losses.contains(cause) && report.losses.at(cause) > 0) << text_of(report);
  }
  const Numbers truth = truth_of(ledger);
  const std::uint64_t too_much = slack_of(ledger) + report.losses.at("counted_twice");
  EXPECT_LE(report.totals.allocated_count, truth.allocated_count + too_much);
  // A block whose address is handed out again is taken for freed, and counted.
  EXPECT_LE(report.totals.freed_count, truth.freed_count + too_much + report.losses.at("live_overwritten"));
}

void expect_refused(const Outcome& outcome, const std::string& reason) {
  EXPECT_TRUE(outcome.status == 3 || outcome.status == 4) << outcome.status << ": " << outcome.errors;
  EXPECT_NE(outcome.errors.find("hint: "), std::string::npos) << outcome.errors;
  EXPECT_NE(outcome.errors.find(reason), std::string::npos) << outcome.errors;
}

/// Prints what was found, so that a change of verdict can be read in the log of the tests.
void say_what_was_found(const HostileTarget& target, const Outcome& outcome) {
  const std::string answer =
      outcome.report ? text_of(*outcome.report) : "refused: " + outcome.errors.substr(0, outcome.errors.find('\n'));
  std::printf("%s: %s\n", target.name.c_str(), answer.c_str());
}

void expect_verdict(const HostileTarget& target, const Outcome& outcome, const Conversation& conversation) {
  say_what_was_found(target, outcome);
  if (target.verdict == Verdict::kRefused) return expect_refused(outcome, target.cause);
  ASSERT_TRUE(outcome.report.has_value()) << "status " << outcome.status << ": " << outcome.errors;
  if (!target.from_start) {
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
  }
  if (target.verdict != Verdict::kEither) {
    EXPECT_EQ(outcome.report->numbers_exact, target.verdict == Verdict::kExact) << text_of(*outcome.report);
  }
  if (outcome.report->numbers_exact) {
    expect_right(*outcome.report, conversation.ledger);
  } else {
    expect_counted(*outcome.report, conversation.ledger, target.cause);
  }
}

void expect_unharmed(const HostileTarget& target, const Conversation& alone, const Conversation& traced) {
  EXPECT_EQ(traced.words, alone.words) << "the target says what it says untraced";
  if (!target.varies) {
    EXPECT_EQ(traced.lines, alone.lines) << "the target does what it does untraced";
  }
  EXPECT_EQ(traced.status, alone.status) << "the target ends as it does untraced: " << traced.errors;
  if (!target.from_start) {
    EXPECT_EQ(traced.errors, alone.errors) << "the target's standard error is what it is untraced";
  }
}

}  // namespace

std::string road_name(Road road) {
  switch (road) {
    case Road::kAuto:
      return "auto";
    case Road::kSession:
      return "session";
    case Road::kMulti:
      return "multi";
    case Road::kPerf:
      return "perf";
  }
  return {};
}

void judge(const HostileTarget& target, Road road) {
  signal(SIGPIPE, SIG_IGN);  // a target may have closed its standard input
  const ScratchDirectory directory;
  const ChildProcess::Setup setup = setup_of(target, directory);
  const Conversation alone = run_alone(setup);
  if (target.from_start) {
    const auto [traced, outcome] = run_from_start(target, setup, road);
    expect_verdict(target, outcome, traced);
    return expect_unharmed(target, alone, traced);
  }
  Tracing tracing(target, road);
  ChildProcess process(setup);
  const Conversation traced = converse(
      process, [&](pid_t pid) { tracing.begin(pid); }, [&] { tracing.end(); });
  expect_verdict(target, tracing.outcome(), traced);
  expect_unharmed(target, alone, traced);
}

}  // namespace hawk
