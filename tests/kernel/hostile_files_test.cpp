// Files that the target, or another user who may write where it lies, changes or replaces under hawktrace's hands, or
// that take more than they seem to.
#include <poll.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>

#include "tests/kernel/harness/compare.h"
#include "tests/kernel/harness/compressed_bomb.h"
#include "tests/kernel/harness/kernel_test.h"
#include "tests/kernel/harness/ledger.h"
#include "tests/kernel/harness/recorded_trace.h"
#include "userspace/base/unique_fd.h"

namespace hawk {
namespace {

/// hawktrace opens nothing but files, does not wait, and ends when it is asked to.
KERNEL_TEST(hostile_files, names_that_became_pipes_and_links) {
  const ScratchDirectory directory;
  const std::string files = directory.path("files");
  LedgerProgram program({.program = "renamed_mappings", .arguments = {files}, .prepare = [&] {
                           std::filesystem::remove_all(files);
                           std::filesystem::create_directory(files);
                         }});
  keep_names_in_recordings();
  Trace trace = Trace::attach(program.pid(), way);
  const Ledger ledger = program.run();
  EXPECT_EQ(ledger.values.at("opened_pipes"), 0u);
  Report report = trace.finish();
  // Of the files some are gone before they are opened, which is all that is missed.
  EXPECT_EQ(report.exact, report.losses.at("functions_not_probed") == 0);
  report.losses["functions_not_probed"] = 0;
  report.exact = true;
  expect_equal(report, ledger);
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

/// Shows when no process has deleted files open any more.
class ReleasedFiles {
 public:
  ReleasedFiles() { EXPECT_TRUE(events_); }
  void watch(const std::string& path) {
    if (::inotify_add_watch(events_.get(), path.c_str(), IN_DELETE_SELF) < 0) {
      throw std::system_error(errno, std::generic_category(), "watch " + path);
    }
  }
  /// False: so many were not released in time.
  bool wait_for(std::size_t count) {
    alignas(inotify_event) std::array<char, 4096> buffer{};
    for (std::size_t released = 0; released < count;) {
      pollfd ready = {.fd = events_.get(), .events = POLLIN, .revents = 0};
      if (::poll(&ready, 1, kPatienceMs) <= 0) return false;
      const ssize_t bytes = ::read(events_.get(), buffer.data(), buffer.size());
      // Of a file that is watched, and not of a directory: an event has no name.
      for (std::size_t at = 0; static_cast<ssize_t>(at) < bytes; at += sizeof(inotify_event)) {
        released += (reinterpret_cast<const inotify_event*>(&buffer.at(at))->mask & IN_DELETE_SELF) != 0 ? 1 : 0;
      }
    }
    return true;
  }

 private:
  UniqueFd events_{::inotify_init1(IN_CLOEXEC)};
};

/// Their disk space would be used as long as the trace runs.
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
  keep_names_in_recordings();
  Trace trace = Trace::attach(program.pid(), way, {"--interval", "100ms"});
  ReleasedFiles released;
  for (std::size_t i = 0; i < kLibraries; ++i) released.watch(directory.path(std::to_string(i) + ".so"));
  const Ledger ledger = program.run();
  EXPECT_TRUE(released.wait_for(kLibraries - kMostKept));
  EXPECT_LE(deleted_files_of(trace.process().pid()), kMostKept);
  expect_equal(trace.finish(), ledger);
}

/// The most memory that a process has had, in MiB.
std::uint64_t highest_memory_of(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stoull(line.substr(6)) / 1024;
  }
  throw std::runtime_error("hawktrace has ended early");
}

/// Six files that are nothing but call frame information. `megabytes`: of each.
void trace_floods(Way way, const std::string& megabytes, std::uint64_t most_memory, bool are_read) {
  const ScratchDirectory directory;
  LedgerProgram program({.program = "flooded_tables", .arguments = {directory.path(), "6", megabytes}});
  Trace trace = Trace::attach(program.pid(), way);
  const Ledger ledger = program.run();
  EXPECT_LE(highest_memory_of(trace.process().pid()), most_memory);
  const Report report = trace.finish();
  expect_equal(report, ledger);
  const auto named = std::count_if(report.unread_tables.begin(), report.unread_tables.end(),
                                   [](const std::string& file) { return file.find("/flood") != std::string::npos; });
  EXPECT_EQ(named, are_read ? 0 : 6) << "what is not read is named, once";
}

constexpr Way kOneWay[] = {Way::kSessionArena};

/// Beyond what a file may take.
KERNEL_TEST_ON(hostile_files, floods_of_call_frame_information, kOneWay) { trace_floods(way, "200", 200, false); }

/// What a file may just take, and all of it is rows.
KERNEL_TEST_ON(hostile_files, floods_within_the_limit, kOneWay) { trace_floods(way, "60", 800, true); }

/// The most memory that a process has had which has been waited for, in MiB.
std::uint64_t highest_memory_of_ended() {
  rusage usage = {};
  if (getrusage(RUSAGE_CHILDREN, &usage) != 0) throw std::runtime_error("ask how much memory was used");
  return static_cast<std::uint64_t>(usage.ru_maxrss) / 1024;
}

/// Debug sections that are small on disk and gigabytes when they are read.
void trace_bomb(Way way, std::uint64_t inflated_bytes) {
  constexpr std::uint64_t kMostMemory = 400;
  const ScratchDirectory directory;
  const std::string program_file = directory.path("program");
  write_compressed_bomb(ledger_path("realloc_moves"), program_file, inflated_bytes);
  LedgerProgram program({.program = program_file});
  Trace trace = Trace::attach(program.pid(), way);
  const Ledger ledger = program.run();
  const Report report = trace.finish();
  EXPECT_LE(highest_memory_of_ended(), kMostMemory);
  expect_equal(report, ledger);
  EXPECT_EQ(report.files_with_symbol_gaps, std::vector<std::string>{program_file});
}

KERNEL_TEST_ON(hostile_files, compressed_sections_of_gigabytes, kOneWay) { trace_bomb(way, std::uint64_t{4} << 30); }

/// Each is small enough, and all of them together are not.
KERNEL_TEST_ON(hostile_files, many_compressed_sections, kOneWay) { trace_bomb(way, std::uint64_t{60} << 20); }

}  // namespace
}  // namespace hawk
