// Names in reports of recordings: from files that are found later, on another machine, or that a server has.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <signal.h>
#include <sys/socket.h>

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "tests/kernel/harness/ledger.h"
#include "tests/kernel/harness/recorder.h"
#include "tests/support/scratch_directory.h"
#include "userspace/base/unique_fd.h"

namespace hawk {
namespace {

using nlohmann::json;

/// A copy of a ledger program that can be stripped, moved and removed.
std::string copy_of(const std::string& program, const ScratchDirectory& directory, const std::string& name) {
  std::filesystem::copy_file(ledger_path(program), directory.path(name));
  return directory.path(name);
}

TEST(recording, with_symbols_needs_no_binary_any_more) {
  const ScratchDirectory directory;
  const std::string copy = copy_of("recursion", directory, "program");
  const std::string recording = directory.path("heap.hawk");
  record_ledger(copy, recording, {"--symbols", "--report", directory.path("live"), "--format", "json"});
  std::filesystem::remove(copy);
  EXPECT_EQ(report_of(recording, {"--format", "json"}), content_of(directory.path("live")));
}

/// What was stripped before the trace is found by build id afterwards, elsewhere; without it, the report says so.
TEST(recording, finds_debug_files_by_build_id) {
  const ScratchDirectory directory;
  const std::string copy = copy_of("recursion", directory, "program");
  std::filesystem::create_directory(directory.path("files"));
  output_of({"objcopy", "--only-keep-debug", copy, directory.path("files") + "/program.debug"});
  std::filesystem::copy_file(copy, directory.path("whole"));
  output_of({"strip", copy});
  const std::string recording = directory.path("heap.hawk");
  record_ledger(copy, recording, {"--report", directory.path("live"), "--format", "json"});
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

std::string build_id_of(const std::string& path) {
  const std::string notes = output_of({"readelf", "-n", path});
  constexpr std::string_view kLabel = "Build ID: ";
  const std::size_t id = notes.find(kLabel) + kLabel.size();
  return notes.substr(id, notes.find('\n', id) - id);
}

/// "/.build-id/61/96744a...debug": where packages of debug information have it.
std::string debug_file_of(const std::string& build_id) {
  return "/usr/lib/debug/.build-id/" + build_id.substr(0, 2) + "/" + build_id.substr(2) + ".debug";
}

void copy_to(const std::string& from, const std::string& to) {
  std::filesystem::create_directories(std::filesystem::path(to).parent_path());
  std::filesystem::copy_file(from, to, std::filesystem::copy_options::overwrite_existing);
}

/// The file system of another machine: what a report needs of this one, but for the program.
void make_image(const std::string& image, const json& report, const std::string& program) {
  std::map<std::string, std::string> modules;
  for (const json& stack : report.at("stacks")) {
    for (const json& frame : stack.at("frames")) {
      if (!frame.at("build_id").is_null()) modules[frame.at("module")] = frame.at("build_id");
    }
  }
  EXPECT_TRUE(modules.contains(program) && modules.size() > 1);
  modules.erase(program);
  for (const auto& [path, build_id] : modules) {
    copy_to(path, image + path);
    const std::string debug_file = debug_file_of(build_id);
    if (std::filesystem::exists(debug_file)) copy_to(debug_file, image + debug_file);
  }
}

/// Recorded on a stripped copy, and reported where its files are elsewhere: what is found below another root, in whole
/// or with its debug information apart, or in a directory, makes the report of the program that was not stripped.
TEST(recording, below_another_root_is_reported_as_if_nothing_had_been_stripped) {
  const ScratchDirectory directory;
  const std::string program = copy_of("distinct_stacks", directory, "program");
  const std::string whole = copy_of("distinct_stacks", directory, "whole");
  const std::string debug = directory.path("program.debug");
  const std::string image = directory.path("image");
  const std::string recording = directory.path("heap.hawk");
  output_of({"objcopy", "--only-keep-debug", whole, debug});
  output_of({"strip", program});
  const std::string stripped = directory.path("stripped");
  copy_to(program, stripped);
  record_ledger(program, recording);

  const Words options = {"--format", "json", "--top", "100"};
  EXPECT_EQ(report_of(recording, options).find("distinct_stacks.c"), std::string::npos);
  copy_to(whole, program);
  const std::string expected = report_of(recording, options);
  for (const char* part : {"\"function\":\"next\"", "distinct_stacks.c", "\"inlined\":true"}) {
    EXPECT_NE(expected.find(part), std::string::npos) << part;
  }
  make_image(image, json::parse(expected), program);
  const Words below = options + Words{"--sysroot", image};
  EXPECT_EQ(report_of(recording, below).find("distinct_stacks.c"), std::string::npos)
      << "this file system is not asked";

  std::filesystem::remove(program);
  copy_to(whole, image + program);
  EXPECT_EQ(report_of(recording, below), expected);
  copy_to(stripped, image + program);
  copy_to(debug, image + debug_file_of(build_id_of(whole)));
  EXPECT_EQ(report_of(recording, below), expected) << "with its debug information apart";
  std::filesystem::remove(image + debug_file_of(build_id_of(whole)));
  EXPECT_EQ(report_of(recording, below + Words{"--debug-dir", directory.path()}), expected);
  std::filesystem::remove(debug);
  copy_to(ledger_path("recursion"), image + program);
  EXPECT_NE(report_of(recording, {"--sysroot", image}).find("no file with its build id was found"), std::string::npos)
      << "another build is not taken for it";
}

/// A port that is free now.
std::string free_port() {
  const UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
  socklen_t size = sizeof address;
  EXPECT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  return std::to_string(ntohs(address.sin_port));
}

/// What was stripped before the trace is fetched from a server, by live reports and later ones; only if that is wanted.
TEST(recording, fetches_debug_files_from_a_server) {
  const ScratchDirectory directory;
  const std::string copy = copy_of("recursion", directory, "program");
  const std::string files = directory.path("files");
  std::filesystem::create_directory(files);
  output_of({"objcopy", "--only-keep-debug", copy, files + "/program.debug"});
  output_of({"strip", copy});
  const std::string url = "http://localhost:" + free_port();
  ChildProcess server({.argv = {"debuginfod", "-F", "-d", ":memory:", "-p", url.substr(url.rfind(':') + 1), files},
                       .environment = {{"DEBUGINFOD_URLS", ""}}});
  // Until it has found the file.
  output_of({"curl", "--silent", "--fail", "--retry", "1000", "--retry-delay", "1", "--retry-all-errors",
             "--retry-max-time", "150", "--output", "/dev/null", url + "/buildid/" + build_id_of(copy) + "/debuginfo"});

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
  EXPECT_EQ(reported({}, "unasked").find("recursion.c"), std::string::npos) << "it is not asked for";
  EXPECT_FALSE(std::filesystem::exists(directory.path("unasked")));
  EXPECT_EQ(reported({"--debuginfod=" + url}, "stripped"), live);
  std::filesystem::remove(copy);
  EXPECT_EQ(reported({"--debuginfod"}, "gone"), live) << "the file itself is not needed";
}

/// A server that takes connections, and says nothing.
TEST(recording, does_not_wait_for_a_silent_server_for_ever) {
  const ScratchDirectory directory;
  const std::string copy = copy_of("recursion", directory, "program");
  record_ledger(copy, directory.path("heap.hawk"));
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
    EXPECT_NE(hawktrace.errors().find("the time limit is reached"), std::string::npos) << hawktrace.errors();
  }
  const UniqueFd first(::accept4(socket.get(), nullptr, nullptr, SOCK_CLOEXEC));
  ChildProcess interrupted({.argv = words, .environment = environment});
  const UniqueFd second(::accept4(socket.get(), nullptr, nullptr, SOCK_CLOEXEC));
  interrupted.send_signal(SIGINT);
  EXPECT_EQ(interrupted.wait(), 128 + SIGINT);
}

}  // namespace
}  // namespace hawk
