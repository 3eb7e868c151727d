// Nothing that fails inside hawktrace leaves anything behind: a preloaded library (faults/) makes the n-th call of a
// kind fail, or all from there on, and whatever n is, hawktrace ends in time with a status that it documents, with one
// message or with a report that is right or says that it is not, the kernel keeps nothing of it, the target lives on,
// and a command that it was to start came to its own end or was never started.
//
// HAWK_ALL_FAULTS=1 tries every n, HAWK_FAULT_TRIES=1000 so many of each kind; otherwise as many as there is time for,
// other ones for each kind, the same in each run.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstdlib>
#include <set>
#include <span>

#include "tests/kernel/faults/tried_run.h"
#include "tests/kernel/harness/compare.h"
#include "tests/kernel/harness/kernel_test.h"
#include "tests/kernel/harness/ledger.h"
#include "tests/kernel/harness/ready_pipe.h"

namespace hawk {
namespace {

constexpr Fault kFaults[] = {
    {"memory_once", FAULT_MEMORY, ENOMEM, false, 24},
    {"memory_for_ever", FAULT_MEMORY, ENOMEM, true, 24},
    {"open_once", FAULT_OPEN, EMFILE, false, 10},
    {"open_for_ever", FAULT_OPEN, ENFILE, true, 8},
    {"read_interrupted", FAULT_READ, EINTR, false, 8},
    {"read_short", FAULT_READ, 0, false, 8},
    {"read_fails", FAULT_READ, EIO, false, 8},
    {"read_fails_for_ever", FAULT_READ, EIO, true, 6},
    {"write_interrupted", FAULT_WRITE, EINTR, false, 4},
    {"write_short", FAULT_WRITE, 0, true, 2},
    {"write_fails", FAULT_WRITE, ENOSPC, false, 6},
    {"map_once", FAULT_MAP, ENOMEM, false, 12},
    {"map_for_ever", FAULT_MAP, ENOMEM, true, 8},
    {"descriptor_once", FAULT_DESCRIPTOR, EMFILE, false, 12},
    {"descriptor_for_ever", FAULT_DESCRIPTOR, EMFILE, true, 8},
    {"wait_interrupted", FAULT_WAIT, EINTR, false, 4},
    {"bpf_once", FAULT_BPF, ENOMEM, false, 16},
    {"bpf_for_ever", FAULT_BPF, EPERM, true, 12},
    {"thread_once", FAULT_THREAD, EAGAIN, false, 8},
    {"thread_for_ever", FAULT_THREAD, EAGAIN, true, 4},
    {"spawn_once", FAULT_SPAWN, EAGAIN, false, 4},
    {"spawn_for_ever", FAULT_SPAWN, ENOMEM, true, 4},
    {"reader_killed", FAULT_READER, 0, false, 12},
    {"reader_killed_for_ever", FAULT_READER, 0, true, 8},
};

/// Which calls out of `count` are made to fail: all, or first and last ones and some between that have no period in
/// common with anything.
std::set<std::uint64_t> choose(std::uint64_t count, std::size_t tries) {
  std::set<std::uint64_t> chosen;
  const bool all = std::getenv("HAWK_ALL_FAULTS") != nullptr || count <= tries;
  if (all) {
    for (std::uint64_t n = 1; n <= count; ++n) chosen.insert(n);
    return chosen;
  }
  constexpr double kGoldenRatio = 0.6180339887498949;
  double position = 0;
  while (chosen.size() < tries) {
    chosen.insert(1 + static_cast<std::uint64_t>(position * static_cast<double>(count)));
    position += kGoldenRatio;
    if (position >= 1) position -= 1;
  }
  return chosen;
}

using Try = bool (*)(const Conditions&);

/// Runs one, with the `first` call failing; returns how many calls of the kind it made.
std::uint64_t run(const Fault& fault, std::uint64_t first, Way way, Try attempt) {
  const FaultPlan plan(fault, first);
  attempt({.way = way, .plan = plan});
  return plan.calls();
}

/// `part`: how many of the tries there is time for.
void try_fault(const Fault& fault, Way way, Try attempt, std::size_t part) {
  const std::uint64_t count = run(fault, 0, way, attempt);
  ASSERT_GT(count, 0u) << "no such call is made, or none is seen";
  const char* asked = std::getenv("HAWK_FAULT_TRIES");
  const std::size_t tries = asked ? std::strtoul(asked, nullptr, 10) : (fault.tries + part - 1) / part;
  for (const std::uint64_t first : choose(count, tries)) {
    SCOPED_TRACE(std::string(fault.name) + ": call " + std::to_string(first) + " of " + std::to_string(count));
    try {
      run(fault, first, way, attempt);
    } catch (const std::exception& thrown) {
      ADD_FAILURE() << thrown.what();
    }
  }
}

/// Not by perf events, which take seconds to detach: what fails is the same.
constexpr Way kFaultWays[] = {Way::kSessionArena, Way::kMultiHash};

[[maybe_unused]] const bool registered = [] {
  for (const Fault& fault : kFaults) {
    register_kernel_test(
        "faults", fault.name, [&fault](Way way) { try_fault(fault, way, try_beside_target, 1); }, kFaultWays);
    register_kernel_test(
        "faults_of_commands", fault.name, [&fault](Way way) { try_fault(fault, way, try_with_command, 2); },
        std::span(kFaultWays).first(1));
  }
  return true;
}();

/// What comes after the end is missing in the numbers.
TEST(faults_of_the_trace, end_it_early) {
  FaultPlan plan({"memory", FAULT_MEMORY, ENOMEM});
  LedgerProgram program({.program = "ends", .arguments = {"wait"}});
  ChildProcess hawktrace(
      {.argv = {HAWKTRACE_PATH, "-p", std::to_string(program.pid()), "--report-every", "100ms", "--format", "json"},
       .environment = plan.environment()});
  std::string last = hawktrace.read_line();
  plan.fail_next();
  while (const std::optional<std::string> line = hawktrace.next_line()) last = *line;
  EXPECT_EQ(hawktrace.wait(), 0) << hawktrace.errors();
  const nlohmann::json report = nlohmann::json::parse(last);
  EXPECT_FALSE(report.at("numbers_exact").get<bool>());
  EXPECT_EQ(report.at("losses").at("ended_early"), 1);
  program.run();
}

/// All processes that read files are killed, by the hand that sends them something: before the `first` time, and before
/// each time after it.
constexpr Fault kReadersKilled = {"readers_killed", FAULT_READER, 0, true};
/// Before the `first` time alone.
constexpr Fault kReaderKilled = {"reader_killed", FAULT_READER, 0, false};

/// Another one reads what it was reading, unless that was the first that it was asked for; then the file is named.
TEST(faults_of_readers, leave_a_right_report_or_name_the_file) {
  constexpr const char* kNamed = "are not probed: its reader crashed (Killed)";
  for (const std::uint64_t first : {1, 2, 3}) {
    const FaultPlan plan(kReaderKilled, first);
    const ScratchDirectory directory;
    LedgerProgram program({.program = "ends", .arguments = {"wait"}});
    ReadyPipe ready;
    std::vector<std::string> command = hawktrace_command(Way::kSessionArena, directory.path("report.json"));
    for (const std::string& word : {std::string("-p"), std::to_string(program.pid()), std::string("--ready-fd"),
                                    std::to_string(ready.write_end())}) {
      command.push_back(word);
    }
    ChildProcess hawktrace({.argv = command, .environment = plan.environment(), .inherited = {ready.write_end()}});
    const bool is_attached = ready.wait();
    EXPECT_GE(plan.calls(), first) << "the reader was killed while hawktrace attached";
    const Ledger ledger = program.run();
    if (is_attached) hawktrace.send_signal(SIGINT);
    EXPECT_EQ(hawktrace.wait(), is_attached ? 0 : 4) << hawktrace.errors();
    const bool is_named = hawktrace.errors().find(kNamed) != std::string::npos;
    EXPECT_TRUE(is_attached || is_named) << hawktrace.errors();
    if (!is_attached) continue;
    const Report report = read_report(directory.path("report.json"));
    EXPECT_NE(report.exact, is_named) << hawktrace.errors();
    if (report.exact) expect_equal(report, ledger);
  }
}

/// What cannot be read is named, and no numbers are given of a process of which nothing is known.
TEST(faults_of_readers, that_are_killed_each_time_are_named) {
  const FaultPlan plan(kReadersKilled, 1);
  LedgerProgram program({.program = "ends", .arguments = {"wait"}});
  ChildProcess hawktrace(
      {.argv = {HAWKTRACE_PATH, "-p", std::to_string(program.pid())}, .environment = plan.environment()});
  EXPECT_EQ(hawktrace.wait(), 4);
  const std::string errors = hawktrace.errors();
  EXPECT_NE(errors.find("libc.so.6 are not probed: its reader crashed (Killed)"), std::string::npos) << errors;
  program.run();
}

}  // namespace
}  // namespace hawk
