// Recordings: that a report made of one equals the live report, byte for byte, and that one which was not ended can be
// read.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <limits.h>
#include <nlohmann/json.hpp>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/kernel/harness/ledger.h"
#include "tests/kernel/harness/ready_pipe.h"
#include "tests/support/scratch_directory.h"
#include "userspace/base/unique_fd.h"

namespace hawk {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// What `hawktrace report` prints, which must end with `status`.
std::string report_of(const std::string& recording, const Words& options, int status = 0) {
  ChildProcess hawktrace({.argv = Words{HAWKTRACE_PATH, "report", recording} + options});
  std::string report = hawktrace.read_to_end();
  EXPECT_EQ(hawktrace.wait(), status) << hawktrace.errors();
  return report;
}

/// A hawktrace that records a process; every probe is in place.
class Recorder {
 public:
  Recorder(pid_t pid, const std::string& recording, const Words& options = {})
      : process_({.argv = Words{HAWKTRACE_PATH, "record", "-p", std::to_string(pid), "-o", recording, "--interval",
                                "100ms", "--ready-fd", std::to_string(ready_.write_end())} +
                          options,
                  .inherited = {ready_.write_end()}}) {
    EXPECT_TRUE(ready_.wait()) << process_.errors();
  }
  ChildProcess& process() { return process_; }
  void finish() {
    process_.send_signal(SIGINT);
    EXPECT_EQ(process_.wait(), 0) << process_.errors();
  }

 private:
  ReadyPipe ready_;
  ChildProcess process_;
};

/// The live report of a trace of `program`, and what is made of its recording.
void expect_same_report(const std::string& program_name, const std::string& format) {
  SCOPED_TRACE(program_name);
  const ScratchDirectory directory;
  const std::string recording = directory.path("heap.hawk");
  const std::string live = directory.path("live");
  const Words options = {"--format", format};
  {
    LedgerProgram program({.program = program_name});
    Recorder recorder(program.pid(), recording, options + Words{"--report", live});
    program.run();
    recorder.finish();
  }
  EXPECT_GT(content_of(live).size(), 500U);
  EXPECT_EQ(report_of(recording, options), content_of(live));
}

TEST(recording, a_report_of_it_equals_the_live_one) {
  expect_same_report("recursion", "text");
  expect_same_report("operators_without_frames", "json");
  expect_same_report("signal_frames", "json");
  expect_same_report("stack_table_full", "json");
}

TEST(recording, equals_the_live_report_of_a_command_that_replaces_its_program) {
  const ScratchDirectory directory;
  ChildProcess hawktrace({.argv = {HAWKTRACE_PATH, "record", "-o", directory.path("heap.hawk"), "--report",
                                   directory.path("live"), "--format", "json", "--interval", "100ms", "--", "/bin/sh",
                                   "-c", "x=$(/bin/true); exec sort /etc/passwd"}});
  hawktrace.read_to_end();
  EXPECT_EQ(hawktrace.wait(), 0) << hawktrace.errors();
  EXPECT_EQ(report_of(directory.path("heap.hawk"), {"--format", "json"}), content_of(directory.path("live")));
}

TEST(recording, holds_names_of_generated_code) {
  const ScratchDirectory directory;
  std::string map;
  {
    LedgerProgram program({.program = "jit_region"});
    map = "/tmp/perf-" + std::to_string(program.pid()) + ".map";
    std::ofstream(map) << "1000 7ffffffff000 made::of_words\n";
    Recorder recorder(program.pid(), directory.path("heap.hawk"),
                      {"--report", directory.path("live"), "--format", "json"});
    program.run();
    recorder.finish();
  }
  ::unlink(map.c_str());
  const std::string report = report_of(directory.path("heap.hawk"), {"--format", "json"});
  EXPECT_EQ(report, content_of(directory.path("live")));
  EXPECT_NE(report.find("made::of_words"), std::string::npos);
}

/// A copy of a ledger program that can be stripped, moved and removed.
std::string copy_of(const std::string& program, const ScratchDirectory& directory, const std::string& name) {
  std::filesystem::copy_file(ledger_path(program), directory.path(name));
  return directory.path(name);
}

void run(const Words& words) {
  ChildProcess process({.argv = words});
  process.read_to_end();
  EXPECT_EQ(process.wait(), 0) << process.errors();
}

TEST(recording, with_symbols_needs_no_binary_any_more) {
  const ScratchDirectory directory;
  const std::string copy = copy_of("recursion", directory, "program");
  const std::string recording = directory.path("heap.hawk");
  {
    LedgerProgram program({.program = copy});
    Recorder recorder(program.pid(), recording, {"--symbols", "--report", directory.path("live"), "--format", "json"});
    program.run();
    recorder.finish();
  }
  std::filesystem::remove(copy);
  EXPECT_EQ(report_of(recording, {"--format", "json"}), content_of(directory.path("live")));
}

/// What was stripped before the trace is found by build id afterwards, elsewhere; without it, the report says so.
TEST(recording, finds_debug_files_by_build_id) {
  const ScratchDirectory directory;
  const std::string copy = copy_of("recursion", directory, "program");
  std::filesystem::create_directory(directory.path("files"));
  run({"objcopy", "--only-keep-debug", copy, directory.path("files") + "/program.debug"});
  std::filesystem::copy_file(copy, directory.path("whole"));
  run({"strip", copy});
  const std::string recording = directory.path("heap.hawk");
  {
    LedgerProgram program({.program = copy});
    Recorder recorder(program.pid(), recording, {"--report", directory.path("live"), "--format", "json"});
    program.run();
    recorder.finish();
  }
  const std::string stripped = report_of(recording, {"--format", "json"});
  EXPECT_EQ(stripped, content_of(directory.path("live")));
  EXPECT_EQ(stripped.find("recursion.c"), std::string::npos);
  const std::string found = report_of(recording, {"--format", "json", "--debug-dir", directory.path("files")});
  EXPECT_NE(found.find("recursion.c"), std::string::npos);
  std::filesystem::rename(directory.path("whole"), copy);
  EXPECT_EQ(found, report_of(recording, {"--format", "json"})) << "the file with its debug information";
  std::filesystem::remove(copy);
  const std::string without = report_of(recording, {});
  EXPECT_NE(without.find("no file with its build id was found"), std::string::npos) << without;
  EXPECT_NE(without.find("pass through it"), std::string::npos) << without;
}

/// A port that nobody has now.
std::string free_port() {
  const UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
  socklen_t size = sizeof address;
  EXPECT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  return std::to_string(ntohs(address.sin_port));
}

std::string build_id_of(const std::string& path) {
  ChildProcess readelf({.argv = {"readelf", "-n", path}});
  const std::string notes = readelf.read_to_end();
  EXPECT_EQ(readelf.wait(), 0);
  constexpr std::string_view kLabel = "Build ID: ";
  const std::size_t id = notes.find(kLabel) + kLabel.size();
  return notes.substr(id, notes.find('\n', id) - id);
}

/// What was stripped before the trace is fetched from a server, by live reports and later ones; only if that is wanted.
TEST(recording, fetches_debug_files_from_a_server) {
  const ScratchDirectory directory;
  const std::string copy = copy_of("recursion", directory, "program");
  const std::string files = directory.path("files");
  std::filesystem::create_directory(files);
  run({"objcopy", "--only-keep-debug", copy, files + "/program.debug"});
  run({"strip", copy});
  const std::string url = "http://localhost:" + free_port();
  ChildProcess server({.argv = {"debuginfod", "-F", "-d", ":memory:", "-p", url.substr(url.rfind(':') + 1), files},
                       .environment = {{"DEBUGINFOD_URLS", ""}}});
  // Until it has found the file.
  run({"curl", "--silent", "--fail", "--retry", "1000", "--retry-delay", "1", "--retry-all-errors", "--retry-max-time",
       "60", "--output", "/dev/null", url + "/buildid/" + build_id_of(copy) + "/debuginfo"});

  const std::string recording = directory.path("heap.hawk");
  const auto environment = [&](const std::string& cache) {
    return std::map<std::string, std::string>{{"DEBUGINFOD_CACHE_PATH", directory.path(cache)},
                                              {"DEBUGINFOD_URLS", url}};
  };
  {
    LedgerProgram program({.program = copy});
    ReadyPipe ready;
    ChildProcess recorder({.argv = {HAWKTRACE_PATH, "record", "-p", std::to_string(program.pid()), "-o", recording,
                                    "--ready-fd", std::to_string(ready.write_end()), "--debuginfod", "--report",
                                    directory.path("live"), "--format", "json"},
                           .environment = environment("live_cache"),
                           .inherited = {ready.write_end()}});
    EXPECT_TRUE(ready.wait()) << recorder.errors();
    program.run();
    recorder.send_signal(SIGINT);
    EXPECT_EQ(recorder.wait(), 0) << recorder.errors();
  }
  const std::string live = content_of(directory.path("live"));
  EXPECT_NE(live.find("recursion.c"), std::string::npos);
  EXPECT_EQ(report_of(recording, {"--format", "json", "--debug-dir", files}), live);

  const auto reported = [&](const Words& options, const std::string& cache) {
    ChildProcess hawktrace({.argv = Words{HAWKTRACE_PATH, "report", recording, "--format", "json"} + options,
                            .environment = environment(cache)});
    std::string report = hawktrace.read_to_end();
    EXPECT_EQ(hawktrace.wait(), 0) << hawktrace.errors();
    return report;
  };
  EXPECT_EQ(reported({}, "unasked").find("recursion.c"), std::string::npos) << "nobody wants it";
  EXPECT_FALSE(std::filesystem::exists(directory.path("unasked")));
  EXPECT_EQ(reported({"--debuginfod=" + url}, "stripped"), live);
  std::filesystem::remove(copy);
  EXPECT_EQ(reported({"--debuginfod"}, "gone"), live) << "the file itself is not needed";
}

/// A server that takes connections, and says nothing.
TEST(recording, does_not_wait_for_a_silent_server_for_ever) {
  const ScratchDirectory directory;
  const std::string copy = copy_of("recursion", directory, "program");
  {
    LedgerProgram program({.program = copy});
    Recorder recorder(program.pid(), directory.path("heap.hawk"));
    program.run();
    recorder.finish();
  }
  std::filesystem::remove(copy);
  const UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(socket.get(), 8), 0);
  ASSERT_EQ(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  const std::string url = "http://localhost:" + std::to_string(ntohs(address.sin_port));
  const Words words = {HAWKTRACE_PATH, "report", directory.path("heap.hawk"), "--debuginfod=" + url};
  const std::map<std::string, std::string> environment = {{"DEBUGINFOD_CACHE_PATH", directory.path("cache")}};
  {
    ChildProcess hawktrace({.argv = words + Words{"--debuginfod-timeout", "1s"}, .environment = environment});
    EXPECT_NE(hawktrace.read_to_end().find("no file with its build id was found"), std::string::npos);
    EXPECT_EQ(hawktrace.wait(), 0);
    EXPECT_NE(hawktrace.errors().find("its time is over"), std::string::npos) << hawktrace.errors();
  }
  const UniqueFd first(::accept4(socket.get(), nullptr, nullptr, SOCK_CLOEXEC));
  ChildProcess interrupted({.argv = words, .environment = environment});
  const UniqueFd second(::accept4(socket.get(), nullptr, nullptr, SOCK_CLOEXEC));
  interrupted.send_signal(SIGINT);
  EXPECT_EQ(interrupted.wait(), 128 + SIGINT);
}

/// Waits until a file grows, or a directory.
class Growth {
 public:
  explicit Growth(const std::string& path) : events_(::inotify_init1(IN_CLOEXEC)) {
    EXPECT_GE(::inotify_add_watch(events_.get(), path.c_str(), IN_MODIFY | IN_CREATE), 0);
  }
  bool wait() {
    char event[sizeof(inotify_event) + NAME_MAX + 1];
    return wait_readable(events_.get()) && ::read(events_.get(), event, sizeof event) > 0;
  }

 private:
  UniqueFd events_;
};

TEST(recording, that_was_killed_can_be_read_and_harms_nobody) {
  const ScratchDirectory directory;
  const std::string recording = directory.path("heap.hawk");
  LedgerProgram program({.program = "realloc_moves"});
  Recorder recorder(program.pid(), recording);
  Growth growth(recording);
  program.run();
  ASSERT_TRUE(growth.wait());
  recorder.process().send_signal(SIGKILL);
  EXPECT_EQ(recorder.process().wait(), 128 + SIGKILL);
  ChildProcess hawktrace({.argv = {HAWKTRACE_PATH, "report", recording, "--format", "json"}});
  const json report = json::parse(hawktrace.read_to_end());
  EXPECT_EQ(hawktrace.wait(), 0);
  EXPECT_NE(hawktrace.errors().find("it is cut off behind interval "), std::string::npos) << hawktrace.errors();
  EXPECT_EQ(report.at("target").at("pid"), program.pid());
}

TEST(recording, on_a_full_disk_ends_with_one_error_and_can_be_read) {
  const ScratchDirectory directory;
  ASSERT_EQ(::mount("none", directory.path().c_str(), "tmpfs", 0, "size=64k"), 0) << errno;
  const std::string recording = directory.path("heap.hawk");
  {
    LedgerProgram program({.program = "hundred_thousand_stacks"});
    Recorder recorder(program.pid(), recording);
    ASSERT_TRUE(Growth(recording).wait());  // an interval without stacks
    program.run();
    EXPECT_EQ(recorder.process().wait(), 6);
    const std::string errors = recorder.process().errors();
    EXPECT_NE(errors.find("write " + recording + ": No space left on device"), std::string::npos) << errors;
    EXPECT_EQ(errors.find("error", errors.find("error") + 1), std::string::npos) << errors;
  }
  EXPECT_NE(report_of(recording, {}).find("hundred_thousan"), std::string::npos);
  EXPECT_EQ(::umount(directory.path().c_str()), 0);
}

TEST(recording, goes_on_in_another_file) {
  const ScratchDirectory directory;
  Growth growth(directory.path());
  LedgerProgram program({.program = "realloc_moves"});
  Recorder recorder(program.pid(), directory.path("heap.hawk"),
                    {"--rotate-every", "100ms", "--report", directory.path("live"), "--format", "json"});
  while (!std::filesystem::exists(directory.path("heap.hawk.2"))) ASSERT_TRUE(growth.wait());
  program.run();
  recorder.finish();
  std::string last = directory.path("heap.hawk");
  for (int number = 2; std::filesystem::exists(directory.path("heap.hawk." + std::to_string(number))); ++number) {
    ChildProcess reported({.argv = {HAWKTRACE_PATH, "report", last}});
    reported.read_to_end();
    EXPECT_EQ(reported.wait(), 0);
    EXPECT_EQ(reported.errors(), "") << "each file is ended";
    last = directory.path("heap.hawk." + std::to_string(number));
  }
  EXPECT_EQ(report_of(last, {"--format", "json"}), content_of(directory.path("live")));
}

TEST(recording, what_is_there_is_not_overwritten_unasked) {
  const ScratchDirectory directory;
  std::ofstream(directory.path("heap.hawk")) << "precious";
  const Words words = {HAWKTRACE_PATH, "record", "-o", directory.path("heap.hawk"), "--", "/bin/true"};
  ChildProcess refused({.argv = words});
  EXPECT_EQ(refused.wait(), 125);
  EXPECT_NE(refused.errors().find("the file exists"), std::string::npos) << refused.errors();
  EXPECT_EQ(content_of(directory.path("heap.hawk")), "precious");
  ChildProcess forced({.argv = Words{HAWKTRACE_PATH, "record", "--force"} + Words(words.begin() + 2, words.end())});
  EXPECT_EQ(forced.wait(), 0) << forced.errors();
  EXPECT_NE(report_of(directory.path("heap.hawk"), {}).find("true (pid "), std::string::npos);
}

}  // namespace
}  // namespace hawk
