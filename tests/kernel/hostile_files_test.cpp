// Files that the target, or whoever may write where it lies, changes or replaces under hawktrace's hands.
#include <chrono>
#include <filesystem>
#include <string>
#include <system_error>
#include <thread>

#include "tests/kernel/harness/compare.h"
#include "tests/kernel/harness/kernel_test.h"
#include "tests/kernel/harness/ledger.h"

namespace hawk {
namespace {

/// hawktrace opens nothing but files, waits for nobody, and ends when it is asked to.
KERNEL_TEST(hostile_files, names_that_became_pipes_and_links) {
  const ScratchDirectory directory;
  const std::string files = directory.path("files");
  LedgerProgram program({.program = "renamed_mappings", .arguments = {files}, .prepare = [&] {
                           std::filesystem::remove_all(files);
                           std::filesystem::create_directory(files);
                         }});
  Trace trace = Trace::attach(program.pid(), way);
  const Ledger ledger = program.run();
  EXPECT_EQ(ledger.values.at("opened_pipes"), 0u);
  expect_equal(trace.finish(), ledger);
}

/// Files that a process has open though they have been deleted.
std::size_t deleted_files_of(pid_t pid) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/fd")) {
    std::error_code gone;
    const std::string target = std::filesystem::read_symlink(entry.path(), gone).string();
    count += target.ends_with(".so (deleted)");
  }
  return count;
}

/// Their disk space would be taken as long as the trace goes on.
KERNEL_TEST(hostile_files, libraries_that_come_and_go) {
  constexpr std::size_t kLibraries = 150;
  constexpr std::size_t kStaying = 40;
  constexpr std::size_t kMostKept = 64;
  const ScratchDirectory directory;
  const auto make_libraries = [&] {
    for (std::size_t i = 0; i < kLibraries + kStaying; ++i) {
      std::filesystem::copy_file(ledger_path("libmapped_library.so"), directory.path(std::to_string(i) + ".so"),
                                 std::filesystem::copy_options::skip_existing);
    }
  };
  LedgerProgram program({.program = "deleted_libraries",
                         .arguments = {directory.path(""), std::to_string(kLibraries), std::to_string(kStaying)},
                         .prepare = make_libraries});
  Trace trace = Trace::attach(program.pid(), way, {"--interval", "100ms"});
  const Ledger ledger = program.run();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatienceMs);
  while (deleted_files_of(trace.process().pid()) > kMostKept && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));  // until its next reading
  }
  EXPECT_LE(deleted_files_of(trace.process().pid()), kMostKept);
  expect_equal(trace.finish(), ledger);
}

}  // namespace
}  // namespace hawk
