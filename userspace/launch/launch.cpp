#include "userspace/launch/launch.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "userspace/base/system_failure.h"
#include "userspace/launch/command_path.h"

namespace hawk {
namespace {

/// Everything that the child needs, made before the fork: after it, only async-signal-safe calls are allowed.
struct ExecPlan {
  ExecPlan(const std::vector<std::string>& argv, const CommandUser* whom);

  const CommandUser* user;  ///< nullptr: hawktrace's own user
  std::vector<std::string> paths;
  std::vector<std::string> variables;  ///< of the user's environment
  std::vector<char*> environment;      ///< with the closing null
  std::vector<char*> arguments;        ///< with the closing null
  std::vector<char*> shell_arguments;  ///< "/bin/sh", the path (set when needed), the arguments after the first
};

ExecPlan::ExecPlan(const std::vector<std::string>& argv, const CommandUser* whom)
    : user(whom), paths(command_candidates(argv[0])) {
  if (user != nullptr) variables = environment_of(*user);
  for (std::string& variable : variables) environment.push_back(variable.data());
  for (char** variable = environ; user == nullptr && *variable != nullptr; ++variable) environment.push_back(*variable);
  environment.push_back(nullptr);
  for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  shell_arguments = {const_cast<char*>(kShell), nullptr};
  shell_arguments.insert(shell_arguments.end(), arguments.begin() + 1, arguments.end());
}

/// As execvp does, with the lookup done. Returns only on failure, with the errno that describes it best.
int execute(ExecPlan& plan) {
  bool denied = false;
  for (const std::string& path : plan.paths) {
    ::execve(path.c_str(), plan.arguments.data(), plan.environment.data());
    if (errno == ENOEXEC) {
      plan.shell_arguments[1] = const_cast<char*>(path.c_str());
      ::execve(kShell, plan.shell_arguments.data(), plan.environment.data());
      return errno;
    }
    if (errno == EACCES) {
      denied = true;
    } else if (errno != ENOENT && errno != ENOTDIR && errno != ESTALE && errno != ENODEV && errno != ETIMEDOUT) {
      return errno;
    }
  }
  return denied ? EACCES : ENOENT;
}

/// Our own handlers must not run in the child while it waits. SIGINT, SIGQUIT and SIGPIPE we may have set to be
/// ignored, which would survive the exec; others that are ignored were so before us.
void reset_signals() {
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction current = {};
    if (::sigaction(number, nullptr, &current) != 0) continue;
    const bool may_be_ours = number == SIGINT || number == SIGQUIT || number == SIGPIPE;
    if (current.sa_handler != SIG_IGN || may_be_ours) ::sigaction(number, &standard, nullptr);
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// What a child failed at, as it reports to its parent.
struct ChildFailure {
  const char* call;  ///< in becoming the user: a literal, which lies at the same address there; nullptr: in execve
  int error;
};

[[noreturn]] void run_child(ExecPlan& plan, int go, int failure) {
  reset_signals();
  char word = 0;
  ssize_t got = 0;
  do {
    got = ::read(go, &word, 1);
  } while (got < 0 && errno == EINTR);
  // The end without a word: our parent has died.
  if (got != 1) ::_exit(1);
  ChildFailure failed = {};
  if (plan.user != nullptr) {
    const UserFailure as_user = become_user(*plan.user);
    failed = {as_user.call, as_user.error};
  }
  if (failed.call == nullptr) failed.error = execute(plan);
  const ssize_t written = ::write(failure, &failed, sizeof(failed));
  ::_exit(written == sizeof(failed) ? 127 : 126);
}

void reap(int pid) {
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

tl::unexpected<Error> fail_to_start(const std::string& name, const char* step) {
  return system_failure(ExitCode::kItself, fmt::format("start {}: {}", name, step), errno);
}

}  // namespace

Result<LaunchedCommand> LaunchedCommand::make(std::vector<std::string> argv, const CommandUser* user) {
  if (argv.empty()) return fail(ExitCode::kUsage, "start a command: none given", "hawktrace -- CMD ARGS...");
  ExecPlan plan(argv, user);
  std::array<int, 2> go = {-1, -1};
  // A socket rather than a pipe, because sending to a child that has been killed must not raise SIGPIPE.
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, go.data()) != 0) return fail_to_start(argv[0], "socketpair");
  UniqueFd parent_go(go[0]);
  UniqueFd child_go(go[1]);
  std::array<int, 2> failure = {-1, -1};
  if (::pipe2(failure.data(), O_CLOEXEC) != 0) return fail_to_start(argv[0], "pipe2");
  UniqueFd read_failure(failure[0]);
  UniqueFd write_failure(failure[1]);

  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const int pid = ::fork();
  if (pid == 0) {
    // Its own copy of our end would keep the child from seeing our death.
    ::close(parent_go.get());
    run_child(plan, child_go.get(), write_failure.get());
  }
  const int error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  if (pid < 0) return fail_to_start(argv[0], "fork");

  LaunchedCommand command;
  command.pid_ = pid;
  command.name_ = std::move(argv[0]);
  if (user != nullptr) command.user_ = user->name;
  command.go_ = std::move(parent_go);
  command.failure_ = std::move(read_failure);
  return command;
}

LaunchedCommand::LaunchedCommand(LaunchedCommand&& other) noexcept { *this = std::move(other); }

LaunchedCommand& LaunchedCommand::operator=(LaunchedCommand&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(name_, other.name_);
  std::swap(user_, other.user_);
  std::swap(go_, other.go_);
  std::swap(failure_, other.failure_);
  return *this;
}

LaunchedCommand::~LaunchedCommand() {
  if (pid_ < 0 || !go_) return;
  ::kill(pid_, SIGKILL);
  reap(pid_);
}

Result<void> LaunchedCommand::release() {
  const char word = 1;
  // When the child is gone already, there is nothing to send to it: waiting for it says what killed it.
  (void)::send(go_.get(), &word, 1, MSG_NOSIGNAL);
  go_.reset();
  ChildFailure failed = {};
  ssize_t got = 0;
  do {
    got = ::read(failure_.get(), &failed, sizeof(failed));
  } while (got < 0 && errno == EINTR);
  failure_.reset();
  if (got != sizeof(failed)) return {};
  reap(std::exchange(pid_, -1));
  if (failed.call != nullptr) {
    return system_failure(ExitCode::kItself, fmt::format("run {} as {}: {}", name_, user_, failed.call), failed.error,
                          "root may not be permitted to change users here: a user namespace, or a container without "
                          "the capabilities SETUID and SETGID, forbids it");
  }
  std::string hint;
  if (failed.error == ENOENT) hint = "check the spelling, and PATH under sudo";
  if (failed.error == EACCES && !user_.empty())
    hint = fmt::format("the user {} is not permitted to execute it, or to search a directory on its path", user_);
  return fail(exec_failure(failed.error), fmt::format("run {}: {}", name_, std::strerror(failed.error)),
              std::move(hint));
}

int LaunchedCommand::disown() {
  go_.reset();
  return std::exchange(pid_, -1);
}

}  // namespace hawk
