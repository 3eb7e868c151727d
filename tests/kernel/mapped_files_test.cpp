// Targets whose libc is not the file that our own path leads to, and targets that map very many files.
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "tests/kernel/harness/compare.h"
#include "tests/kernel/harness/kernel_test.h"
#include "tests/kernel/harness/ledger.h"
#include "tests/kernel/harness/recorded_trace.h"

namespace hawk {
namespace {

constexpr const char* kLibc = "/usr/lib/x86_64-linux-gnu/libc.so.6";

/// Traces `program` from ready to done and compares.
void expect_traced_exactly(LedgerProgram& program, pid_t pid, Way way) {
  Trace trace = Trace::attach(pid, way);
  const Ledger ledger = program.run();
  expect_equal(trace.finish(), ledger);
}

/// A program that maps a private copy of libc, "libc.so.6" in `directory`.
LedgerProgram::Setup with_libc_of(const ScratchDirectory& directory) {
  std::filesystem::copy_file(kLibc, directory.path("libc.so.6"));
  return {.program = "every_function", .environment = {{"LD_LIBRARY_PATH", directory.path("")}}};
}

KERNEL_TEST(library, replaced_on_disk) {
  const ScratchDirectory directory;
  LedgerProgram program(with_libc_of(directory));
  std::filesystem::copy_file(kLibc, directory.path("newer"));
  std::filesystem::rename(directory.path("newer"), directory.path("libc.so.6"));
  expect_traced_exactly(program, program.pid(), way);
}

KERNEL_TEST(library, removed_from_disk) {
  const ScratchDirectory directory;
  LedgerProgram program(with_libc_of(directory));
  std::filesystem::remove(directory.path("libc.so.6"));
  expect_traced_exactly(program, program.pid(), way);
}

/// The executable too: its symbols must come from what is still mapped.
KERNEL_TEST(library, executable_removed_from_disk) {
  const ScratchDirectory directory;
  const std::string copy = directory.path("every_function");
  LedgerProgram program(
      {.program = copy, .prepare = [&] { std::filesystem::copy_file(ledger_path("every_function"), copy); }});
  std::filesystem::remove(copy);
  keep_names_in_recordings();
  expect_traced_exactly(program, program.pid(), way);
}

/// Process 1 of its own pid namespace, in a mount namespace where libc's path leads to another file than ours.
KERNEL_TEST(namespaces, other_mounts_and_pids) {
  const ScratchDirectory directory;
  std::filesystem::copy_file(kLibc, directory.path("libc.so.6"));
  const std::string script = "mount --bind " + directory.path("libc.so.6") + " " + kLibc + " && mount -t tmpfs none " +
                             directory.path("") + " && exec " + ledger_path("every_function");
  LedgerProgram program({.program = "/usr/bin/unshare",
                         .arguments = {"--mount", "--pid", "--fork", "--kill-child", "/bin/sh", "-c", script}});
  const std::vector<pid_t> inside = children_of(program.pid());
  ASSERT_EQ(inside.size(), 1u);
  expect_traced_exactly(program, inside.front(), way);
  program.close_input();
  EXPECT_EQ(program.wait(), 0);
}

/// Traces a program that has mapped `count` libraries and allocates once through each. Returns how many of the stacks
/// name the library's function.
std::size_t trace_through_libraries(std::size_t count, Way way) {
  const ScratchDirectory directory;
  for (std::size_t i = 0; i < count; ++i) {
    std::filesystem::copy_file(ledger_path("libmapped_library.so"), directory.path(std::to_string(i) + ".so"));
  }
  LedgerProgram program({.program = "mapped_libraries", .arguments = {directory.path(""), std::to_string(count)}});
  Trace trace = Trace::attach(program.pid(), way);
  const Ledger ledger = program.run();
  const Report report = trace.finish();
  expect_equal(report, ledger);
  return static_cast<std::size_t>(std::count_if(report.stacks.begin(), report.stacks.end(), [](const auto& stack) {
    return std::any_of(stack.frames.begin(), stack.frames.end(),
                       [](const ReportFrame& frame) { return frame.function == "through_library"; });
  }));
}

/// Limits what we, and the hawktrace that we start, may have open.
class OpenFileLimit {
 public:
  explicit OpenFileLimit(rlim_t files) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit lowered = {.rlim_cur = files, .rlim_max = before_.rlim_max};
    if (setrlimit(RLIMIT_NOFILE, &lowered) != 0) throw std::runtime_error("setrlimit failed");
  }
  ~OpenFileLimit() { setrlimit(RLIMIT_NOFILE, &before_); }
  OpenFileLimit(const OpenFileLimit&) = delete;
  OpenFileLimit& operator=(const OpenFileLimit&) = delete;

 private:
  rlimit before_ = {};
};

/// Three times as many files as a process may have open where the limit has not been raised.
KERNEL_TEST(mapped_files, three_thousand) {
  const OpenFileLimit limit(1024);
  EXPECT_EQ(trace_through_libraries(3000, way), 3000u);
}

KERNEL_TEST(threads, more_than_a_thousand) {
  LedgerProgram program({.program = "thousand_threads"});
  expect_traced_exactly(program, program.pid(), way);
}

}  // namespace
}  // namespace hawk
