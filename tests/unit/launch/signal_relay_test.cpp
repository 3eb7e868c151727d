#include "userspace/launch/signal_relay.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

namespace hawk {
namespace {

using Action = SignalRelay::Action;

/// A child that has blocked every signal and reports, by sigwaitinfo, those it receives.
class Listener {
 public:
  Listener() {
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, &before);
    EXPECT_EQ(::pipe(ends_.data()), 0);
    pid_ = ::fork();
    if (pid_ == 0) listen(all);
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    pid_fd_ = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    for (const int fd : {pid_fd_, ends_[0], ends_[1]}) ::close(fd);
  }

  struct Heard {
    int number = 0;
    int code = 0;
    void* value = nullptr;
  };
  Heard hear() {
    Heard heard;
    EXPECT_EQ(::read(ends_[0], &heard, sizeof(heard)), static_cast<ssize_t>(sizeof(heard)));
    return heard;
  }
  int pid() const { return pid_; }
  int pid_fd() const { return pid_fd_; }

 private:
  [[noreturn]] void listen(const sigset_t& all) {
    while (true) {
      siginfo_t info = {};
      ::sigwaitinfo(&all, &info);
      const Heard heard{info.si_signo, info.si_code, info.si_value.sival_ptr};
      if (::write(ends_[1], &heard, sizeof(heard)) < 0) ::_exit(1);
    }
  }

  std::array<int, 2> ends_ = {-1, -1};
  int pid_ = -1;
  int pid_fd_ = -1;
};

TEST(SignalRelay, PassesOnWhatAProcessSends) {
  Listener command;
  SignalRelay relay(command.pid(), command.pid_fd());
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT, SIGWINCH, SIGRTMIN, SIGRTMAX}) {
    EXPECT_EQ(relay.take({.number = number, .sender = ::getpid()}), Action::kNothing);
    EXPECT_EQ(command.hear().number, number);
  }
}

TEST(SignalRelay, PassesOnValuesInTheirOrder) {
  Listener command;
  SignalRelay relay(command.pid(), command.pid_fd());
  std::array<int, 3> values = {};
  for (int& value : values) relay.take({.number = SIGRTMIN + 3, .sender = 1, .value = &value});
  for (int& value : values) {
    const Listener::Heard heard = command.hear();
    EXPECT_EQ(heard.number, SIGRTMIN + 3);
    EXPECT_EQ(heard.code, SI_QUEUE);
    EXPECT_EQ(heard.value, &value);
  }
}

/// The next thing that it hears is what was sent to it alone: nothing came before.
void expect_nothing_heard(Listener& command) {
  ::kill(command.pid(), SIGURG);
  EXPECT_EQ(command.hear().number, SIGURG);
}

TEST(SignalRelay, KeepsToItselfWhatTheCommandHasGot) {
  Listener command;
  SignalRelay relay(command.pid(), command.pid_fd());
  EXPECT_EQ(relay.take({.number = SIGCHLD, .sender = command.pid()}), Action::kNothing);
  EXPECT_EQ(relay.take({.number = SIGUSR1, .sender = command.pid()}), Action::kNothing);
  EXPECT_EQ(relay.take({.number = SIGWINCH, .from_terminal = true}), Action::kNothing);
  EXPECT_EQ(relay.take({.number = SIGINT, .from_terminal = true}), Action::kSayToWait);
  expect_nothing_heard(command);
}

TEST(SignalRelay, TheSecondKeyIsForUs) {
  Listener command;
  for (const int second : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    SignalRelay relay(command.pid(), command.pid_fd());
    EXPECT_EQ(relay.take({.number = SIGQUIT, .from_terminal = true}), Action::kSayToWait);
    EXPECT_EQ(relay.take({.number = SIGUSR1, .sender = 1}), Action::kNothing) << "it ends nothing";
    EXPECT_EQ(command.hear().number, SIGUSR1);
    EXPECT_EQ(relay.take({.number = second, .from_terminal = true}), Action::kEnd) << second;
  }
}

}  // namespace
}  // namespace hawk
