// Targets whose libc is not the file that our own path leads to.
#include <filesystem>
#include <stdexcept>

#include "tests/kernel/harness/compare.h"
#include "tests/kernel/harness/kernel_test.h"
#include "tests/kernel/harness/ledger.h"

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
  std::filesystem::copy_file(ledger_path("every_function"), directory.path("every_function"));
  LedgerProgram::Setup setup{.program = directory.path("every_function")};
  LedgerProgram program(setup);
  std::filesystem::remove(directory.path("every_function"));
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

}  // namespace
}  // namespace hawk
