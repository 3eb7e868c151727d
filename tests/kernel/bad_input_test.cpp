// Every bad input has one message, one hint, its own exit code, and leaves standard output empty.
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <sstream>

#include "tests/kernel/harness/ledger.h"
#include "tests/kernel/harness/ready_pipe.h"
#include "tests/kernel/harness/trace.h"

namespace hawk {
namespace {

using Arguments = std::vector<std::string>;

ChildProcess::Setup hawktrace(const Arguments& arguments) {
  ChildProcess::Setup setup{.argv = {HAWKTRACE_PATH}};
  setup.argv.insert(setup.argv.end(), arguments.begin(), arguments.end());
  return setup;
}

/// Two lines, "error: ..." and "hint: ...".
void expect_message_and_hint(const std::string& errors) {
  std::istringstream lines(errors);
  std::string message, hint, more;
  std::getline(lines, message);
  std::getline(lines, hint);
  EXPECT_FALSE(message.empty());
  EXPECT_FALSE(message.starts_with("hint:")) << errors;
  EXPECT_TRUE(hint.starts_with("hint: ") && hint.size() > 10) << errors;
  EXPECT_FALSE(std::getline(lines, more)) << "one message and one hint, no more:\n" << errors;
}

void expect_refused(const ChildProcess::Setup& setup, int status) {
  ChildProcess process(setup);
  EXPECT_EQ(process.read_to_end(), "") << "standard output is for reports";
  EXPECT_EQ(process.wait(), status) << process.errors();
  expect_message_and_hint(process.errors());
}

void expect_refused(const Arguments& arguments, int status) { expect_refused(hawktrace(arguments), status); }

std::string pid_of(const ChildProcess& process) { return std::to_string(process.pid()); }

TEST(bad_input, no_such_process) {
  // One past the highest pid that the kernel hands out.
  expect_refused({"-p", "4194305"}, 3);
}

/// Whatever it was that found no descriptor left.
TEST(bad_input, too_few_descriptors) {
  const LedgerProgram program({.program = "every_function"});
  for (const char* const limit : {"--nofile=6:6", "--nofile=8:8", "--nofile=12:12", "--nofile=40:40"}) {
    ChildProcess hawktrace({.argv = {"prlimit", limit, HAWKTRACE_PATH, "-p", pid_of(program)}, .as_nobody = false});
    EXPECT_EQ(hawktrace.wait(), 4) << limit;
    const std::string errors = hawktrace.errors();
    EXPECT_NE(errors.find("Too many open files"), std::string::npos) << limit << ": " << errors;
    EXPECT_NE(errors.find("ulimit -n"), std::string::npos) << limit << ": " << errors;
  }
}

TEST(bad_input, process_that_has_ended) {
  ChildProcess zombie({.argv = {"/bin/true"}});
  siginfo_t ended{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(zombie.pid()), &ended, WEXITED | WNOWAIT), 0);  // ended, not reaped
  expect_refused({"-p", pid_of(zombie)}, 3);
}

TEST(bad_input, thread_that_is_no_process) {
  LedgerProgram program({.program = "churn", .arguments = {"1", "idle"}});
  for (const auto& task : std::filesystem::directory_iterator("/proc/" + pid_of(program) + "/task")) {
    const std::string thread = task.path().filename();
    if (thread != pid_of(program)) expect_refused({"-p", thread}, 3);
  }
}

TEST(bad_input, kernel_thread) { expect_refused({"-p", "2"}, 4); }

TEST(bad_input, not_root) {
  LedgerProgram program({.program = "ends", .arguments = {"wait"}});
  const ScratchDirectory directory;  // where the program cannot be reached
  const std::string copy = directory.path("hawktrace");
  std::filesystem::copy_file(HAWKTRACE_PATH, copy);
  ASSERT_EQ(chmod(std::filesystem::path(copy).parent_path().c_str(), 0755), 0);
  expect_refused({.argv = {copy, "-p", pid_of(program)}, .as_nobody = true}, 4);
  expect_refused({.argv = {copy, "--", "/bin/true"}, .as_nobody = true}, 125);
}

/// Under some hypervisors the kernel runs none.
bool kernel_runs_programs_of_32_bits() {
  std::string program = ledger_path("no_allocator_32");
  char* const arguments[] = {program.data(), nullptr};
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, program.c_str(), nullptr, nullptr, arguments, nullptr);
  if (error != 0) return error != ENOEXEC;
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  return true;
}

TEST(bad_input, process_of_32_bits) {
  if (!kernel_runs_programs_of_32_bits()) GTEST_SKIP() << "this kernel runs no programs of 32 bits";
  LedgerProgram program({.program = "no_allocator_32"});
  expect_refused({"-p", pid_of(program)}, 4);
}

TEST(bad_input, process_without_an_allocator) {
  LedgerProgram program({.program = "no_allocator_64"});
  expect_refused({"-p", pid_of(program)}, 4);
}

/// Found before tracing: the target, which would have to be continued, is never probed.
TEST(bad_input, unwritable_output) {
  LedgerProgram program({.program = "ends", .arguments = {"wait"}});
  expect_refused({"-p", pid_of(program), "--format", "json", "-o", "/nonexistent/report.json"}, 6);
  expect_refused({"-p", pid_of(program), "-o", "/proc"}, 6);
  expect_refused({"-o", "/nonexistent/report.json", "--", "/bin/true"}, 125);
}

TEST(bad_input, malformed_options) {
  const std::vector<Arguments> all = {
      {},
      {"-p"},
      {"-p", "abc"},
      {"-p", "0"},
      {"-p", "-5"},
      {"-p", "99999999999999999999"},
      {"-p", "1", "--no-such-option"},
      {"-p", "1", "--format", "xml"},
      {"-p", "1", "--sort", "size"},
      {"-p", "1", "--top", "-1"},
      {"-p", "1", "--top", "many"},
      {"-p", "1", "--stack-depth", "0"},
      {"-p", "1", "--stack-depth", "100000"},
      {"-p", "1", "--attach-via", "ptrace"},
      {"-p", "1", "--unwind", "magic"},
      {"-p", "1", "--unwind", ""},
      {"-p", "1", "--unwind", "CFI"},
      {"-p", "1", "--unwind", "cfi,fp"},
      {"-p", "1", "--duration", "-1"},
      {"-p", "1", "--interval", "soon"},
      {"-p", "1", "--min-size", "big"},
      {"-p", "1", "--max-blocks", "0"},
      {"-p", "1", "--max-stacks", "0"},
      {"-p", "1", "--ready-fd", "999"},
      {"-p", "1", "-o", ""},
  };
  for (const Arguments& arguments : all) {
    std::string text;
    for (const std::string& argument : arguments) text += argument + " ";
    SCOPED_TRACE("hawktrace " + text);
    expect_refused(arguments, 2);
  }
}

/// What a command may exit with is not taken for hawktrace's own failures.
TEST(bad_input, malformed_options_with_a_command) {
  expect_refused({"-p", "1", "--", "/bin/true"}, 125);
  expect_refused({"--top", "many", "--", "/bin/true"}, 125);
  expect_refused({"--"}, 125);
}

TEST(bad_input, too_few_stacks_for_child_processes) {
  ChildProcess process(hawktrace({"--max-stacks", "1000", "--", "/bin/true"}));
  EXPECT_EQ(process.read_to_end(), "");
  EXPECT_EQ(process.wait(), 125);
  expect_message_and_hint(process.errors());
  EXPECT_NE(process.errors().find("each process takes 4 of its numbers"), std::string::npos) << process.errors();
}

TEST(bad_input, no_such_command) {
  expect_refused({"--", "/nonexistent/program"}, 127);
  expect_refused({"--", "no-such-command-anywhere"}, 127);
  expect_refused({"--", "/etc/passwd"}, 126);
}

/// The first Ctrl-C makes it write the report, into a pipe that is not emptied; the second must end it all the same.
TEST(bad_input, control_c_twice) {
  LedgerProgram program({.program = "distinct_stacks"});
  ReadyPipe ready;
  ChildProcess::Setup setup = hawktrace(
      {"-p", pid_of(program), "--format", "json", "--top", "0", "--ready-fd", std::to_string(ready.write_end())});
  setup.inherited = {ready.write_end()};
  ChildProcess process(setup);
  ASSERT_TRUE(ready.wait());
  program.run();
  process.send_signal(SIGINT);
  ASSERT_TRUE(wait_readable(process.output())) << "the report has begun";
  process.send_signal(SIGINT);
  EXPECT_EQ(process.wait(), 128 + SIGINT);
  program.close_input();
  EXPECT_EQ(program.wait(), 0) << "the target lives on";
}

}  // namespace
}  // namespace hawk
