// What hawktrace does to its target: nothing that lasts, at any load, however it ends.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <stdexcept>

#include "tests/kernel/harness/churn.h"
#include "tests/kernel/harness/compare.h"
#include "tests/kernel/harness/kernel_test.h"
#include "tests/kernel/harness/ledger.h"
#include "tests/kernel/harness/own_libc.h"
#include "tests/kernel/harness/traced_family.h"
#include "tests/support/scratch_directory.h"

namespace hawk {
namespace {

/// Bytes of `path` at `offset`.
std::string read_bytes(const std::string& path, std::uint64_t offset, std::size_t size) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  std::string bytes(size, '\0');
  const ssize_t count = pread(file, bytes.data(), size, static_cast<off_t>(offset));
  close(file);
  if (count != static_cast<ssize_t>(size)) throw std::runtime_error("cannot read " + path);
  return bytes;
}

/// The number of bytes by which the target's code of libc differs from the file: its breakpoints. The target is to have
/// a libc of its own: other tests put probes for a file (--links file) into every process that maps it.
std::size_t breakpoints_in_libc(pid_t pid) {
  const std::string proc = "/proc/" + std::to_string(pid);
  std::ifstream maps(proc + "/maps");
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::uint64_t start = 0, end = 0, offset = 0;
    char dash = 0;
    std::string flags, device, inode, path;
    words >> std::hex >> start >> dash >> end >> flags >> offset >> device >> inode >> path;
    if (flags != "r-xp" || path.find("/libc.so.6") == std::string::npos) continue;
    const std::string in_memory = read_bytes(proc + "/mem", start, end - start);
    const std::string in_file = read_bytes(path, offset, end - start);
    std::size_t different = 0;
    for (std::size_t i = 0; i < in_file.size(); ++i) different += in_memory[i] != in_file[i];
    return different;
  }
  throw std::runtime_error("the target maps no libc");
}

KERNEL_TEST_OF_CALLS(tracers, two_at_once) {
  LedgerProgram program({.program = "every_function"});
  Trace first = Trace::attach(program.pid(), way);
  Trace second = Trace::attach(program.pid(), way);
  const Ledger ledger = program.run();
  expect_equal(first.finish(), ledger);
  expect_equal(second.finish(), ledger);
}

/// Two processes that map the same allocator, whose functions throw: each has a tracer, which must not touch the
/// other's return addresses.
KERNEL_TEST_OF_CALLS(tracers, of_two_processes_that_throw) {
  const LedgerProgram::Setup setup{
      .program = "bad_alloc", .environment = {{"LD_PRELOAD", "/usr/lib/x86_64-linux-gnu/libtcmalloc_minimal.so.4"}}};
  LedgerProgram first(setup);
  LedgerProgram second(setup);
  Trace of_first = Trace::attach(first.pid(), way);
  Trace of_second = Trace::attach(second.pid(), way);
  const Ledger second_ledger = second.run();
  const Ledger first_ledger = first.run();
  expect_equal(of_first.finish(), first_ledger);
  expect_equal(of_second.finish(), second_ledger);
}

/// The return probes of another process's tracer come into this one too: the kernel takes the answer of a session's pid
/// filter for a request. What is seen inside functions must not rest on return addresses.
KERNEL_TEST_ON(tracers, beside_return_probes, kPointsWays) {
  LedgerProgram first({.program = "every_function"});
  LedgerProgram second({.program = "every_function"});
  Trace by_points = Trace::attach(first.pid(), way);
  Trace by_returns = Trace::attach(second.pid(), Way::kSessionArena);
  const Ledger first_ledger = first.run();
  const Ledger second_ledger = second.run();
  expect_equal(by_points.finish(), first_ledger);
  expect_equal(by_returns.finish(), second_ledger);
}

KERNEL_TEST_OF_CALLS(tracers, killed) {
  const ScratchDirectory directory;
  LedgerProgram program({.program = "churn", .arguments = {"4"}, .environment = with_own_libc(directory)});
  {
    Trace trace = Trace::attach(program.pid(), way);
    EXPECT_GT(breakpoints_in_libc(program.pid()), 0u) << "the probes are in place";
    trace.process().send_signal(SIGKILL);
    EXPECT_EQ(trace.process().wait(), 128 + SIGKILL);
  }
  EXPECT_EQ(breakpoints_in_libc(program.pid()), 0u) << "the kernel has taken the probes out";
  expect_sound(Trace::attach(program.pid(), way).finish());
  expect_unharmed(program);
}

KERNEL_TEST_OF_CALLS(tracers, leave_nothing_behind) {
  const ScratchDirectory directory;
  LedgerProgram program({.program = "churn", .arguments = {"4"}, .environment = with_own_libc(directory)});
  expect_sound(Trace::attach(program.pid(), way).finish());
  EXPECT_EQ(breakpoints_in_libc(program.pid()), 0u);
  expect_unharmed(program);
}

/// A target stopped by a debugger or a shell can be attached to and left, and is still stopped then.
KERNEL_TEST_OF_CALLS(tracers, of_a_stopped_process) {
  const ScratchDirectory directory;
  LedgerProgram program({.program = "churn", .arguments = {"2"}, .environment = with_own_libc(directory)});
  program.send_signal(SIGSTOP);
  siginfo_t stopped{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(program.pid()), &stopped, WSTOPPED), 0);
  const Report report = Trace::attach(program.pid(), way).finish();
  expect_sound(report);
  EXPECT_EQ(report.totals, Numbers{});
  EXPECT_EQ(breakpoints_in_libc(program.pid()), 0u);
  program.send_signal(SIGCONT);
  expect_unharmed(program);
}

KERNEL_TEST_OF_CALLS(tracers, come_and_go_under_load) {
  const int rounds = way == Way::kPerfHash ? 5 : 20;  // see kPerfBound
  LedgerProgram program({.program = "churn", .arguments = {"2"}});
  for (int i = 0; i < rounds && !testing::Test::HasFailure(); ++i) {
    const Report report = Trace::attach(program.pid(), way).finish();
    expect_sound(report);
    for (const auto& [cause, count] : report.losses) EXPECT_EQ(count, 0u) << cause << ", round " << i;
    EXPECT_TRUE(report.exact);
    EXPECT_FALSE(report.target_exited);
  }
  expect_unharmed(program);
}

/// The aim is 200 ms each; the bounds are loose because other programs may use the machine. Start, load and report are
/// part of both figures.
constexpr std::chrono::milliseconds kBound{1000};
/// The kernel takes perf-event uprobes out one by one, each after a grace period of its own (100 ms on 6.18), under one
/// mutex (kernel/trace/trace_uprobe.c: perf_uprobe_destroy), however many threads close them.
constexpr std::chrono::milliseconds kPerfBound{5000};

KERNEL_TEST_OF_CALLS(tracers, are_quick_on_50_threads) {
  LedgerProgram program({.program = "churn", .arguments = {"50", "idle"}});
  Trace trace = Trace::attach(program.pid(), way);
  expect_sound(trace.finish());
  std::printf("attach %lld ms, detach and report %lld ms, via %s\n",
              static_cast<long long>(trace.attach_time().count()), static_cast<long long>(trace.finish_time().count()),
              way_name(way).c_str());
  EXPECT_LT(trace.attach_time(), kBound);
  EXPECT_LT(trace.finish_time(), way == Way::kPerfHash ? kPerfBound : kBound);
  expect_unharmed(program);
}

}  // namespace
}  // namespace hawk
