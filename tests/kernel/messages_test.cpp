// What hawktrace says and whether it is heard: standard streams that are closed, full or left, names that command a
// terminal, signals that are not for it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <memory>
#include <stdexcept>

#include "tests/kernel/harness/compare.h"
#include "tests/kernel/harness/ledger.h"
#include "tests/kernel/harness/ready_pipe.h"
#include "tests/kernel/harness/trace.h"

namespace hawk {
namespace {

using Arguments = std::vector<std::string>;

/// hawktrace, started by a shell that gives it other standard streams: "2>&-".
class Redirected {
 public:
  Redirected(const std::string& redirections, const Arguments& arguments, const std::vector<int>& inherited = {}) {
    ReadyPipe ready;
    const std::string ready_fd = std::to_string(ready.write_end());
    ChildProcess::Setup setup{
        .argv = {"/bin/sh", "-c", "exec \"$@\" " + redirections, "sh", HAWKTRACE_PATH, "--ready-fd", ready_fd},
        .inherited = inherited};
    setup.inherited.push_back(ready.write_end());
    setup.argv.insert(setup.argv.end(), arguments.begin(), arguments.end());
    process_ = std::make_unique<ChildProcess>(setup);
    if (!ready.wait()) throw std::runtime_error("hawktrace did not become ready:\n" + process_->errors());
  }

  ChildProcess& process() { return *process_; }

 private:
  std::unique_ptr<ChildProcess> process_;
};

std::string pid_of(const ChildProcess& process) { return std::to_string(process.pid()); }

TEST(messages, report_is_written_whatever_becomes_of_stderr) {
  for (const std::string redirections : {"2>&-", "2>/dev/full", "2>&- <&-", "2>&- >&- <&-", ">/dev/full 2>/dev/full"}) {
    SCOPED_TRACE(redirections);
    const ScratchDirectory directory;
    LedgerProgram program({.program = "ends", .arguments = {"wait"}});
    Redirected trace(redirections, {"-v", "-p", pid_of(program), "--format", "json", "--verify", "-o",
                                    directory.path("report.json")});
    const Ledger ledger = program.run();
    trace.process().send_signal(SIGINT);
    EXPECT_EQ(trace.process().wait(), 0);
    expect_equal(read_report(directory.path("report.json")), ledger);
  }
}

TEST(messages, stderr_whose_reader_is_gone) {
  const ScratchDirectory directory;
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  LedgerProgram program({.program = "ends", .arguments = {"wait"}});
  ChildProcess process(
      {.argv = {"/bin/sh", "-c", "exec \"$@\" 2>&" + std::to_string(ends[1]), "sh", HAWKTRACE_PATH, "-v", "--duration",
                "1", "--format", "json", "--verify", "-o", directory.path("report.json"), "-p", pid_of(program)},
       .inherited = {ends[1]}});
  close(ends[0]);
  close(ends[1]);
  EXPECT_EQ(process.wait(), 0);
  expect_sound(read_report(directory.path("report.json")));
}

TEST(messages, report_that_is_lost_is_an_error) {
  for (const std::string redirection : {">&-", ">/dev/full"}) {
    SCOPED_TRACE(redirection);
    LedgerProgram program({.program = "ends", .arguments = {"wait"}});
    ChildProcess process({.argv = {"/bin/sh", "-c", "exec \"$@\" " + redirection, "sh", HAWKTRACE_PATH, "-q",
                                   "--duration", "1ms", "-p", pid_of(program)}});
    const int status = process.wait();
    const std::string errors = process.errors();
    EXPECT_EQ(status, 6);
    EXPECT_TRUE(errors.starts_with("hawktrace: error: write")) << errors;
    EXPECT_NE(errors.find("\nhint: "), std::string::npos) << errors;
  }
  for (const char* option : {"--help", "--version"}) {
    ChildProcess process({.argv = {"/bin/sh", "-c", "exec \"$@\" >/dev/full", "sh", HAWKTRACE_PATH, option}});
    EXPECT_EQ(process.wait(), 6);
    EXPECT_EQ(process.errors(), "hawktrace: error: write to stdout: No space left on device\n");
  }
}

/// As `| head` does it: what it wanted to see it has seen.
TEST(messages, report_whose_reader_has_enough) {
  LedgerProgram program({.program = "distinct_stacks"});
  std::array<int, 2> out{};
  ASSERT_EQ(pipe2(out.data(), O_CLOEXEC), 0);
  Redirected trace(">&" + std::to_string(out[1]), {"-q", "-p", pid_of(program), "--format", "json", "--top", "0"},
                   {out[1]});
  close(out[1]);
  program.run();
  trace.process().send_signal(SIGINT);
  char byte = 0;
  EXPECT_EQ(read(out[0], &byte, 1), 1);
  close(out[0]);
  EXPECT_EQ(trace.process().wait(), 0);
  EXPECT_EQ(trace.process().errors(), "");
}

TEST(messages, report_into_a_pipe_that_does_not_block) {
  LedgerProgram program({.program = "distinct_stacks"});
  std::array<int, 2> out{};
  ASSERT_EQ(pipe2(out.data(), O_CLOEXEC | O_NONBLOCK), 0);
  Redirected trace(">&" + std::to_string(out[1]), {"-q", "-p", pid_of(program), "--format", "json", "--top", "0"},
                   {out[1]});
  close(out[1]);
  program.run();
  trace.process().send_signal(SIGINT);
  std::string report;
  std::array<char, 4096> piece{};
  ssize_t got = 1;
  while (got > 0 && wait_readable(out[0])) {
    got = read(out[0], piece.data(), piece.size());
    if (got > 0) report.append(piece.data(), static_cast<std::size_t>(got));
  }
  close(out[0]);
  EXPECT_EQ(trace.process().wait(), 0) << trace.process().errors();
  EXPECT_GT(report.size(), 1'000'000u) << "more than a pipe holds";
  EXPECT_TRUE(nlohmann::json::accept(report));
}

/// Its libraries' names are the target's choice.
TEST(messages, names_command_no_terminal) {
  const ScratchDirectory directory;
  const std::string library = directory.path(
      "\x1b]0;owned\x07\x1b[2J\xc2\x9b"
      "31m\xff.so");
  std::filesystem::copy_file(ledger_path("libcounting_allocator.so"), library);
  LedgerProgram program({.program = "ends", .arguments = {"wait"}, .environment = {{"LD_PRELOAD", library}}});
  Redirected trace("", {"-v", "-p", pid_of(program)});
  program.run();
  trace.process().send_signal(SIGINT);
  const std::string report = trace.process().read_to_end();
  EXPECT_EQ(trace.process().wait(), 0);
  const std::string errors = trace.process().errors();
  EXPECT_NE(errors.find("owned"), std::string::npos) << "the name is shown: " << errors;
  for (const std::string& text : {errors, report}) {
    EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](char c) { return c == '\n' || (c & ~0x1F) != 0; }));
    EXPECT_EQ(text.find('\x7f'), std::string::npos);
    EXPECT_EQ(text.find("\xc2\x9b"), std::string::npos);
    EXPECT_EQ(text.find('\xff'), std::string::npos);
  }
}

TEST(messages, ready_descriptor_is_no_standard_stream) {
  LedgerProgram program({.program = "ends", .arguments = {"wait"}});
  for (const char* standard : {"0", "1", "2"}) {
    ChildProcess process({.argv = {HAWKTRACE_PATH, "--ready-fd", standard, "-p", pid_of(program)}});
    EXPECT_EQ(process.wait(), 2);
    EXPECT_NE(process.errors().find("is a standard stream\nhint: "), std::string::npos) << process.errors();
  }
}

TEST(messages, ready_descriptor_does_not_reach_the_command) {
  std::array<int, 2> ready{};
  ASSERT_EQ(pipe2(ready.data(), O_CLOEXEC), 0);
  ChildProcess process(
      {.argv = {HAWKTRACE_PATH, "-q", "--ready-fd", std::to_string(ready[1]), "--", ledger_path("signals")},
       .inherited = {ready[1]}});
  close(ready[1]);
  std::array<char, 2> bytes{};
  ASSERT_TRUE(wait_readable(ready[0]));
  EXPECT_EQ(read(ready[0], bytes.data(), bytes.size()), 1);
  EXPECT_EQ(process.read_line(), "ready");
  ASSERT_TRUE(wait_readable(ready[0])) << "while the command runs";
  EXPECT_EQ(read(ready[0], bytes.data(), bytes.size()), 0) << "the end";
  close(ready[0]);
  process.send_signal(SIGTERM);
  process.read_to_end();
  EXPECT_EQ(process.wait(), 0);
}

/// A terminal that hangs up makes two: its own, and the shell's.
TEST(messages, hang_up_ends_the_trace_and_not_its_report) {
  const ScratchDirectory directory;
  LedgerProgram program({.program = "distinct_stacks"});
  Redirected trace(
      "", {"-p", pid_of(program), "--format", "json", "--top", "0", "--verify", "-o", directory.path("report.json")});
  const Ledger ledger = program.run();
  trace.process().send_signal(SIGHUP);
  const std::string report = directory.path("report.json");
  const auto patience = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatienceMs);
  // At every moment of what follows, detaching and writing.
  while (std::filesystem::file_size(report) == 0 && std::chrono::steady_clock::now() < patience) {
    trace.process().send_signal(SIGHUP);
  }
  EXPECT_EQ(trace.process().wait(), 0) << trace.process().errors();
  expect_equal(read_report(report), ledger);
}

std::string line_of(int number, int value = 0) {
  return "signal " + std::to_string(number) + " value " + std::to_string(value);
}

constexpr std::array kPassedOn{SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT, SIGWINCH};

void expect_signals_to_pass(ChildProcess& hawktrace) {
  for (const int number : kPassedOn) {
    hawktrace.send_signal(number);
    EXPECT_EQ(hawktrace.read_line(), line_of(number));
  }
  for (int value = 1; value <= 5; ++value) sigqueue(hawktrace.pid(), SIGRTMIN + 2, {.sival_int = value});
  for (int value = 1; value <= 5; ++value) EXPECT_EQ(hawktrace.read_line(), line_of(SIGRTMIN + 2, value));
  hawktrace.send_signal(SIGRTMAX);
  EXPECT_EQ(hawktrace.read_line(), line_of(SIGRTMAX));
}

TEST(messages, signals_reach_the_command) {
  const ScratchDirectory directory;
  ChildProcess process({.argv = {HAWKTRACE_PATH, "-q", "-o", directory.path("report"), "--", ledger_path("signals")}});
  EXPECT_EQ(process.read_line(), "ready");
  expect_signals_to_pass(process);
  process.send_signal(SIGTERM);
  EXPECT_EQ(process.read_line(), line_of(SIGTERM));
  EXPECT_EQ(process.wait(), 0);
  EXPECT_GT(std::filesystem::file_size(directory.path("report")), 0u);
}

}  // namespace
}  // namespace hawk
