#include "userspace/launch/launch.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "tests/support/elf_fixture.h"

namespace hawk {
namespace {

int wait_status(int pid) {
  int status = 0;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  return status;
}

/// Starts a command at once and gives its wait status.
int run(std::vector<std::string> argv) {
  Result<LaunchedCommand> command = LaunchedCommand::make(std::move(argv));
  EXPECT_TRUE(command);
  const Result<void> released = command->release();
  EXPECT_TRUE(released) << released.error().what;
  return wait_status(command->disown());
}

bool is_gone(int pid) { return ::kill(pid, 0) != 0 && errno == ESRCH; }

TEST(LaunchedCommand, RunsWithItsArguments) {
  EXPECT_EQ(WEXITSTATUS(run({"sh", "-c", "exit $(($1 + $2))", "sh", "40", "2"})), 42);
}

TEST(LaunchedCommand, WaitsForTheWord) {
  Result<LaunchedCommand> command = LaunchedCommand::make({"cat"});
  ASSERT_TRUE(command);
  const std::string exe = "/proc/" + std::to_string(command->pid()) + "/exe";
  EXPECT_EQ(std::filesystem::read_symlink(exe), std::filesystem::read_symlink("/proc/self/exe"));
  EXPECT_EQ(::getpgid(command->pid()), ::getpgrp());
}

TEST(LaunchedCommand, KillsAChildThatWasNeverReleased) {
  int pid = 0;
  {
    Result<LaunchedCommand> command = LaunchedCommand::make({"true"});
    ASSERT_TRUE(command);
    pid = command->pid();
  }
  EXPECT_TRUE(is_gone(pid));
}

TEST(LaunchedCommand, MovesWithoutKilling) {
  Result<LaunchedCommand> first = LaunchedCommand::make({"sh", "-c", "exit 5"});
  ASSERT_TRUE(first);
  Result<LaunchedCommand> second = LaunchedCommand::make({"true"});
  ASSERT_TRUE(second);
  LaunchedCommand command = std::move(*second);
  command = std::move(*first);
  ASSERT_TRUE(command.release());
  EXPECT_EQ(WEXITSTATUS(wait_status(command.disown())), 5);
}

TEST(LaunchedCommand, SaysWhyACommandCannotRun) {
  Result<LaunchedCommand> command = LaunchedCommand::make({"no-such-command-anywhere"});
  ASSERT_TRUE(command);
  const int pid = command->pid();
  const Result<void> released = command->release();
  ASSERT_FALSE(released);
  EXPECT_EQ(released.error().exit_code, ExitCode::kNotFound);
  EXPECT_EQ(released.error().what, "run no-such-command-anywhere: No such file or directory");
  EXPECT_TRUE(is_gone(pid));

  Result<LaunchedCommand> denied = LaunchedCommand::make({"/etc/passwd"});
  ASSERT_TRUE(denied);
  const Error error = denied->release().error();
  EXPECT_EQ(error.what, "run /etc/passwd: Permission denied");
  EXPECT_EQ(error.exit_code, ExitCode::kCannotExecute);
}

TEST(LaunchedCommand, NeedsACommand) {
  const Result<LaunchedCommand> command = LaunchedCommand::make({});
  ASSERT_FALSE(command);
  EXPECT_EQ(command.error().exit_code, ExitCode::kUsage);
}

TEST(LaunchedCommand, GivesAFileWithoutHeadLineToTheShell) {
  const testing::TemporaryDirectory directory;
  const std::string script = directory.write("script", "exit $(($1 + 1))\n", true);
  EXPECT_EQ(WEXITSTATUS(run({script, "6"})), 7);
}

TEST(LaunchedCommand, SignalsAreAsAfterAShell) {
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  struct sigaction before = {};
  ASSERT_EQ(::sigaction(SIGINT, &ignore, &before), 0);
  sigset_t blocked;
  sigset_t mask_before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  ASSERT_EQ(::pthread_sigmask(SIG_BLOCK, &blocked, &mask_before), 0);

  const int interrupted = run({"sh", "-c", "kill -INT $$; exit 3"});
  const int signalled = run({"sh", "-c", "kill -USR1 $$; exit 3"});

  ::pthread_sigmask(SIG_SETMASK, &mask_before, nullptr);
  ::sigaction(SIGINT, &before, nullptr);
  EXPECT_TRUE(WIFSIGNALED(interrupted));
  EXPECT_EQ(WTERMSIG(interrupted), SIGINT);
  EXPECT_TRUE(WIFSIGNALED(signalled));
  EXPECT_EQ(WTERMSIG(signalled), SIGUSR1);
}

TEST(LaunchedCommand, AChildKilledWhileWaitingDoesNotKillUs) {
  Result<LaunchedCommand> command = LaunchedCommand::make({"true"});
  ASSERT_TRUE(command);
  ::kill(command->pid(), SIGKILL);
  siginfo_t dead;
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(command->pid()), &dead, WEXITED | WNOWAIT), 0);
  EXPECT_TRUE(command->release());
  EXPECT_EQ(WTERMSIG(wait_status(command->disown())), SIGKILL);
}

}  // namespace
}  // namespace hawk
