#include "tests/kernel/harness/trace.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <stdexcept>

#include "tests/kernel/harness/ready_pipe.h"
#include "tests/kernel/harness/recorded_trace.h"
#include "tests/kernel/harness/untraced.h"

namespace hawk {
namespace {

using Clock = std::chrono::steady_clock;
using std::string_literals::operator""s;

std::chrono::milliseconds since(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start);
}

struct WayParts {
  const char* name;
  const char* attach_via;
  const char* live_table;
  const char* unwind;
};

/// Multi links with the hash are as good as others to see that frame pointers alone do what they can.
WayParts parts_of(Way way) {
  switch (way) {
    case Way::kPointsArena:
      return {"points_arena", "points", "arena", "auto"};
    case Way::kSessionArena:
      return {"session_arena", "session", "arena", "auto"};
    case Way::kSessionHash:
      return {"session_hash", "session", "hash", "auto"};
    case Way::kMultiArena:
      return {"multi_arena", "multi", "arena", "auto"};
    case Way::kMultiHash:
      return {"multi_hash", "multi", "hash", "fp"};
    case Way::kPerfHash:
      return {"perf_hash", "perf", "hash", "auto"};
    case Way::kCfiArena:
      return {"cfi_arena", "session", "arena", "cfi"};
    case Way::kCfiHash:
      return {"cfi_hash", "multi", "hash", "cfi"};
  }
  return {};
}

}  // namespace

std::string way_name(Way way) { return parts_of(way).name; }
std::string attach_via(Way way) { return parts_of(way).attach_via; }
std::string live_table(Way way) { return parts_of(way).live_table; }
std::string unwind(Way way) { return parts_of(way).unwind; }

std::vector<std::string> hawktrace_command(Way way, const std::string& report_path) {
  return {HAWKTRACE_PATH,
          "--attach-via",
          attach_via(way),
          "--live-table",
          live_table(way),
          "--unwind",
          unwind(way),
          "--format",
          "json",
          "-o",
          report_path,
          "--top",
          "0",
          "--verify"};
}

Trace::Trace(Way way, const std::vector<std::string>& options)
    : way_(way), options_(options), directory_(std::make_unique<ScratchDirectory>()) {}

std::vector<std::string> Trace::words() const {
  const std::string report = directory_->path("report.json");
  return is_recorded(way_) ? recording_command(way_, report, directory_->path("heap.hawk"))
                           : hawktrace_command(way_, report);
}

Trace Trace::attach(pid_t pid, Way way, const std::vector<std::string>& options,
                    const std::vector<std::string>& runner) {
  Trace trace(way, options);
  ReadyPipe ready;
  ChildProcess::Setup setup{.argv = trace.words(), .inherited = {ready.write_end()}};
  for (const std::string& word : {"--ready-fd"s, std::to_string(ready.write_end()), "-p"s, std::to_string(pid)}) {
    setup.argv.push_back(word);
  }
  setup.argv.insert(setup.argv.end(), options.begin(), options.end());
  setup.argv.insert(setup.argv.begin(), runner.begin(), runner.end());
  const Clock::time_point start = Clock::now();
  trace.process_ = std::make_unique<ChildProcess>(setup);
  const bool is_ready = ready.wait();
  trace.attach_time_ = since(start);
  if (!is_ready) throw std::runtime_error("hawktrace did not become ready:\n" + trace.process_->errors());
  return trace;
}

Trace Trace::launch(const std::vector<std::string>& command, Way way, const std::vector<std::string>& options) {
  Trace trace(way, options);
  ChildProcess::Setup setup{.argv = trace.words()};
  // What it starts is not traced, unless the test says so.
  setup.argv.emplace_back("--no-follow");
  setup.argv.insert(setup.argv.end(), options.begin(), options.end());
  setup.argv.emplace_back("--");
  setup.argv.insert(setup.argv.end(), command.begin(), command.end());
  if (options.empty()) trace.command_ = command;
  trace.process_ = std::make_unique<ChildProcess>(setup);
  return trace;
}

void Trace::mark(std::uint64_t generation) {
  const std::string line = "generation " + std::to_string(generation) + " begins";
  const Clock::time_point end = Clock::now() + std::chrono::milliseconds(kPatienceMs);
  process_->send_signal(SIGUSR2);
  while (process_->errors().find(line) == std::string::npos) {
    if (Clock::now() > end) throw std::runtime_error("not said: " + line);
    ::poll(nullptr, 0, 1);  // what is looked for has no descriptor to wait on
  }
}

Report Trace::finish(int status) {
  const Clock::time_point start = Clock::now();
  process_->send_signal(SIGINT);
  process_->wait();
  finish_time_ = since(start);
  return wait_for_report(status);
}

Report Trace::wait_for_report(int status) {
  EXPECT_EQ(process_->wait(), status) << process_->errors();
  if (!command_.empty()) {
    expect_same_untraced_command(*process_, {.setup = {.argv = command_}, .mask = mask_ledger});
  }
  Report report = read_report(directory_->path("report.json"));
  if (is_recorded(way_)) {
    expect_same_as_recorded(directory_->path("heap.hawk"), directory_->path("report.json"), options_);
  }
  const bool is_for_files = std::find(options_.begin(), options_.end(), "--links") != options_.end();
  EXPECT_EQ(report.attach_via, attach_via(way_) + (is_for_files ? " for files" : ""));
  EXPECT_EQ(report.live_table, live_table(way_));
  EXPECT_EQ(report.unwind, unwind(way_));
  return report;
}

std::uint64_t least_memory(Way way, const std::string& max_stacks) {
  LedgerProgram program({.program = "ends", .arguments = {"wait"}});
  ChildProcess refused({.argv = {HAWKTRACE_PATH, "-p", std::to_string(program.pid()), "--live-table", live_table(way),
                                 "--max-stacks", max_stacks, "--max-memory", "1"}});
  EXPECT_EQ(refused.wait(), 2);
  const std::string errors = refused.errors();
  const std::size_t number = errors.find(" take ");
  if (number == std::string::npos) throw std::runtime_error("hawktrace does not say how much it needs: " + errors);
  return std::stoull(errors.substr(number + 6));
}

}  // namespace hawk
