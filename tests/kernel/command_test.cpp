// hawktrace -- CMD: everything counts, from the dynamic linker's first malloc on, and every stack is whole: what the
// command maps was read before, and is found where it lies before user space has announced it.
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <fstream>

#include "tests/kernel/harness/compare.h"
#include "tests/kernel/harness/enough_time.h"
#include "tests/kernel/harness/kernel_test.h"
#include "tests/kernel/harness/ledger.h"
#include "userspace/base/unique_fd.h"

namespace hawk {
namespace {

using namespace std::chrono_literals;

/// Of what no way to attach has a part in.
constexpr std::array kOneWay = {Way::kSessionArena};

/// The ledger's words come through hawktrace's standard streams.
Ledger run_command(Trace& trace) {
  EXPECT_EQ(trace.process().read_line(), "ready");
  trace.process().send_byte();
  return read_ledger(trace.process());
}

/// A program linked with a counter of its own sees the same blocks, those of the libraries' start included.
KERNEL_TEST_OF_CALLS(command, from_the_first_malloc_on) {
  Trace trace = Trace::launch({ledger_path("constructors_counted")}, way);
  const Ledger ledger = read_ledger(trace.process());
  ASSERT_TRUE(ledger.totals.has_value());
  trace.process().close_input();
  const Report report = trace.wait_for_report();
  expect_equal(report, ledger);
  EXPECT_TRUE(report.target_exited);
}

/// Of all blocks only one may not be the ledger's: libstdc++'s emergency pool.
void expect_equal_but_for_pool(const Report& report, Ledger ledger) {
  Numbers others = report.totals;
  for (const auto& [function, numbers] : ledger.sites) {
    others.allocated_count -= numbers.allocated_count;
    others.freed_count -= numbers.freed_count;
  }
  EXPECT_EQ(others.allocated_count, 1u);
  EXPECT_EQ(others.freed_count, 0u);
  EXPECT_EQ(report.frees_of_untraced, 0u);
  ledger.totals = report.totals;  // so that the pool's stack is not taken for a stray one
  expect_equal(report, ledger);
}

KERNEL_TEST_OF_CALLS(command, constructors) {
  Trace trace = Trace::launch({ledger_path("constructors")}, way);
  const Ledger ledger = read_ledger(trace.process());
  trace.process().close_input();
  expect_equal_but_for_pool(trace.wait_for_report(), ledger);
}

KERNEL_TEST_OF_CALLS(command, operators) {
  Trace trace = Trace::launch({ledger_path("operators")}, way);
  const Ledger ledger = run_command(trace);
  trace.process().close_input();
  expect_equal_but_for_pool(trace.wait_for_report(), ledger);
}

/// Built once, not for each way.
const std::string kWithoutAllocator = std::string(HAWK_LEDGER_DIR) + "/no_allocator_64";

/// What cannot be probed is not called exact: a program without symbols, and without libc.
KERNEL_TEST_OF_CALLS(command, without_an_allocator) {
  Trace trace = Trace::launch({kWithoutAllocator}, way);
  ASSERT_EQ(trace.process().read_line(), "ready");
  trace.process().close_input();
  const Report report = trace.wait_for_report();
  EXPECT_FALSE(report.exact);
  EXPECT_EQ(report.losses.at("no_allocator"), 1u);
  EXPECT_EQ(report.totals, Numbers());
}

/// Go's linker leaves notes of its own. Such a program has a heap that no allocator's function shows.
KERNEL_TEST_ON(command, without_an_allocator_by_go, kOneWay) {
  const std::string go = std::string(HAWK_LEDGER_DIR) + "/no_allocator_go";
  Trace trace = Trace::launch({go}, way);
  ASSERT_EQ(trace.process().read_line(), "ready");
  trace.process().close_input();
  EXPECT_EQ(trace.wait_for_report().losses.at("no_allocator"), 1u);
  LedgerProgram program({.program = "no_allocator_go"});
  ChildProcess refused({.argv = {HAWKTRACE_PATH, "-p", std::to_string(program.pid())}});
  EXPECT_EQ(refused.wait(), 4);
  for (const std::string& errors : {trace.process().errors(), refused.errors()}) {
    EXPECT_NE(errors.find("none of its mapped files defines malloc"), std::string::npos) << errors;
    EXPECT_NE(errors.find("net/http/pprof"), std::string::npos) << errors;
    EXPECT_EQ(errors.find("stripped"), std::string::npos) << errors;
  }
}

/// The program that counts is the last one.
KERNEL_TEST_OF_CALLS(command, replaced_by_one_without_an_allocator) {
  Trace trace = Trace::launch({"/bin/sh", "-c", "exec " + kWithoutAllocator}, way);
  ASSERT_EQ(trace.process().read_line(), "ready");
  trace.process().close_input();
  const Report report = trace.wait_for_report();
  EXPECT_FALSE(report.exact);
  EXPECT_EQ(report.losses.at("no_allocator"), 1u);
}

/// The allocator is hawktrace's as well. This one ends a program that frees by another function than fits.
TEST(command, shares_an_allocator_that_checks_its_callers) {
  ChildProcess hawktrace({.argv = {HAWKTRACE_PATH, "-q", "-o", "/dev/null", "--", ledger_path("ends"), "exit", "0"},
                          .environment = {{"LD_PRELOAD", "libtcmalloc_minimal_debug.so.4"}}});
  EXPECT_EQ(hawktrace.read_line(), "ready");
  hawktrace.send_byte();
  hawktrace.read_to_end();
  EXPECT_EQ(hawktrace.wait(), 0) << hawktrace.errors();
}

KERNEL_TEST_OF_CALLS(command, exit_code_passes_through) {
  Trace trace = Trace::launch({ledger_path("ends"), "exit", "7"}, way);
  const Ledger ledger = run_command(trace);
  expect_equal(trace.wait_for_report(7), ledger);
}

KERNEL_TEST_OF_CALLS(command, death_by_signal_passes_through) {
  Trace trace = Trace::launch({ledger_path("ends"), "signal", std::to_string(SIGABRT)}, way);
  const Ledger ledger = run_command(trace);
  expect_equal(trace.wait_for_report(128 + SIGABRT), ledger);
}

KERNEL_TEST_OF_CALLS(command, sigterm_is_passed_on) {
  Trace trace = Trace::launch({ledger_path("ends"), "wait"}, way);
  const Ledger ledger = run_command(trace);
  trace.process().send_signal(SIGTERM);
  const Report report = trace.wait_for_report(128 + SIGTERM);
  expect_equal(report, ledger);
  EXPECT_TRUE(report.target_exited);
}

/// Ctrl-C that reaches hawktrace alone, not the terminal's whole group: the command gets it too.
KERNEL_TEST_OF_CALLS(command, sigint_is_passed_on) {
  Trace trace = Trace::launch({ledger_path("ends"), "wait"}, way);
  const Ledger ledger = run_command(trace);
  trace.process().send_signal(SIGINT);
  expect_equal(trace.wait_for_report(128 + SIGINT), ledger);
}

/// env runs as the first program of the process and replaces itself: the numbers are the second program's, which was
/// not read before.
KERNEL_TEST_OF_CALLS(command, replaces_its_program) {
  Trace trace = Trace::launch({"/usr/bin/env", ledger_path("ends"), "exit", "0"}, way);
  const Ledger ledger = run_command(trace);
  const Report report = trace.wait_for_report();
  expect_equal_but_flagged(report, ledger);
  EXPECT_EQ(report.exec_count, 1u);
}

/// The report comes on time, and the command lives on. Returns whether it had called its allocator by then.
bool expect_outlived(Way way, std::chrono::milliseconds duration) {
  const auto start = std::chrono::steady_clock::now();
  Trace trace = Trace::launch({ledger_path("ends"), "wait"}, way, {"--duration", in_milliseconds(duration)});
  const Ledger ledger = run_command(trace);
  const std::optional<pid_t> child = command_of(trace.process().pid());
  if (std::chrono::steady_clock::now() - start >= duration) return false;
  EXPECT_TRUE(child);
  const UniqueFd command(static_cast<int>(::syscall(SYS_pidfd_open, child.value_or(-1), 0)));
  const Report report = trace.wait_for_report();
  expect_equal(report, ledger);
  EXPECT_FALSE(report.target_exited);
  EXPECT_NE(trace.process().errors().find("still running, as process " + std::to_string(child.value_or(-1))),
            std::string::npos)
      << trace.process().errors();
  EXPECT_EQ(::syscall(SYS_pidfd_send_signal, command.get(), 0, nullptr, 0), 0) << "it lives on";
  trace.process().close_input();  // and ends now
  EXPECT_TRUE(wait_readable(command.get()));
  return true;
}

KERNEL_TEST_OF_CALLS(command, outlives_the_trace) {
  in_enough_time(500ms, [&](std::chrono::milliseconds duration) { return expect_outlived(way, duration); });
}

/// `words`: a command that waits for its input, or for signals that it has blocked. Returns whether it was ready within
/// the duration.
bool expect_killed(Way way, const std::vector<std::string>& words, std::chrono::milliseconds duration) {
  const auto start = std::chrono::steady_clock::now();
  Trace trace = Trace::launch(words, way, {"--duration", in_milliseconds(duration), "--kill"});
  const std::optional<std::string> ready = trace.process().next_line();
  const std::optional<pid_t> child = command_of(trace.process().pid());
  const UniqueFd command(static_cast<int>(::syscall(SYS_pidfd_open, child.value_or(-1), 0)));
  if (std::chrono::steady_clock::now() - start >= duration) return false;
  EXPECT_EQ(ready, "ready");
  trace.wait_for_report();
  EXPECT_TRUE(wait_readable(command.get()));
  return true;
}

KERNEL_TEST_ON(command, is_killed_on_demand, kOneWay) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {ledger_path("ends"), "wait"}, {"/bin/sh", "-c", "trap '' TERM; echo ready; read word; read word"}}) {
    in_enough_time(500ms, [&](std::chrono::milliseconds duration) { return expect_killed(way, words, duration); });
  }
}

/// It has ended before anything could be read of it, and allocates nothing; its files were announced when it mapped
/// them.
KERNEL_TEST_OF_CALLS(command, replaces_itself_with_a_short_program) {
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"/usr/bin/env", "/bin/true"}, {"/bin/bash", "-c", "exec /bin/true"}}) {
    const Report report = Trace::launch(command, way).wait_for_report();
    EXPECT_TRUE(report.exact) << command.back();
    EXPECT_EQ(report.comm, "true");
    EXPECT_EQ(report.exec_count, 1u);
  }
}

/// Children that no probe reaches: they are counted and named, and what holds for the command is not said of them.
KERNEL_TEST_OF_CALLS(command, children_are_named) {
  Trace trace = Trace::launch({"/bin/bash", "-c", "/bin/true; (:); /bin/sh -c '/bin/true; /bin/true; :' | /bin/cat"},
                              way, {"--require-exact=numbers"});
  const Report report = trace.wait_for_report();
  EXPECT_FALSE(report.exact);
  EXPECT_TRUE(report.numbers_exact);
  EXPECT_EQ(report.losses.at("untraced_children"), 6u);
  EXPECT_EQ(report.children_without_exec, 1u);
  EXPECT_EQ(report.child_programs, (std::map<std::string, std::uint64_t>{{"true", 3}, {"sh", 1}, {"cat", 1}}));
}

KERNEL_TEST_ON(command, children_of_a_compiler, kOneWay) {
  const ScratchDirectory directory;
  std::ofstream(directory.path("x.cpp")) << "int main() {}\n";
  Trace trace = Trace::launch({"g++", "-o", directory.path("x"), directory.path("x.cpp")}, way, {"--require-exact"});
  const Report report = trace.wait_for_report(5);
  EXPECT_FALSE(report.exact);
  for (const char* program : {"cc1plus", "as", "collect2"}) {
    EXPECT_EQ(report.child_programs.count(program), 1u) << program;
  }
}

/// Numbers and stacks are two promises.
KERNEL_TEST_ON(command, cut_stacks_leave_the_numbers_exact, kOneWay) {
  for (const auto& [demand, status] :
       {std::pair{"--require-exact", 0}, {"--require-exact=numbers", 0}, {"--require-exact=stacks", 5}}) {
    Trace trace = Trace::launch({ledger_path("ends"), "exit", "0"}, way, {"--stack-depth", "1", demand});
    const Ledger ledger = run_command(trace);
    const Report report = trace.wait_for_report(status);
    EXPECT_TRUE(report.exact);
    EXPECT_FALSE(report.stacks_complete);
    EXPECT_GT(report.losses.at("truncated_stacks"), 0u);
  }
}

/// "sh -c 'exit 3'" and a missing command can be distinguished.
TEST(command, own_failures_have_statuses_of_their_own) {
  const auto status_of = [](const std::vector<std::string>& arguments) {
    ChildProcess::Setup setup{.argv = {HAWKTRACE_PATH, "-o", "/dev/null"}};
    setup.argv.insert(setup.argv.end(), arguments.begin(), arguments.end());
    return ChildProcess(setup).wait();
  };
  EXPECT_EQ(status_of({"--", "/bin/sh", "-c", "exit 3"}), 3);
  EXPECT_EQ(status_of({"--", "/nonexistent/program"}), 127);
  EXPECT_EQ(status_of({"--", "/etc/passwd"}), 126);
  EXPECT_EQ(status_of({"--max-memory", "1", "--", "/bin/true"}), 125);
}

}  // namespace
}  // namespace hawk
