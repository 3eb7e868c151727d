#include "userspace/base/signal_source.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>

#include "tests/support/status_in_child.h"

namespace hawk {
namespace {

/// Number of the next signal; 0 when there is none.
int next_number(Result<SignalSource>& source) {
  const std::optional<ReceivedSignal> signal = source->next();
  return signal ? signal->number : 0;
}

bool is_readable(int fd) {
  pollfd readable = {.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&readable, 1, 0) == 1;
}

TEST(SignalSource, TellsEverySignalOnceAndNothingElse) {
  EXPECT_EQ(status_in_child([] {
              Result<SignalSource> source = SignalSource::make();
              if (!source || source->next() || is_readable(source->fd())) return 1;
              std::set<int> told;
              for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGWINCH}) ::raise(number);
              if (!is_readable(source->fd())) return 2;
              while (const int number = next_number(source)) {
                if (!told.insert(number).second) return 3;
              }
              return told == std::set<int>{SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGWINCH} ? 0 : 4;
            }),
            0);
}

TEST(SignalSource, SignalsAreNotLostOnceTheyWereRead) {
  EXPECT_EQ(status_in_child([] {
              Result<SignalSource> source = SignalSource::make();
              for (int i = 0; i < 2; ++i) {
                ::raise(SIGINT);
                if (next_number(source) != SIGINT) return 1;
              }
              return source->next() ? 2 : 0;
            }),
            0);
}

TEST(SignalSource, OriginalMaskIsThatOfBefore) {
  EXPECT_EQ(status_in_child([] {
              sigset_t mask;
              ::sigemptyset(&mask);
              ::sigaddset(&mask, SIGUSR1);
              ::sigprocmask(SIG_SETMASK, &mask, nullptr);
              const Result<SignalSource> source = SignalSource::make();
              const sigset_t& original = source->original_mask();
              return ::sigismember(&original, SIGUSR1) == 1 && ::sigismember(&original, SIGINT) == 0 ? 0 : 1;
            }),
            0);
}

TEST(SignalSource, HangUpThatNohupIgnoresStaysIgnored) {
  EXPECT_EQ(status_in_child([] {
              ::signal(SIGHUP, SIG_IGN);
              Result<SignalSource> source = SignalSource::make();
              ::raise(SIGHUP);
              return source->next() ? 1 : 0;
            }),
            0);
}

TEST(SignalSource, InterruptIsTakenInABackgroundJobOfAScript) {
  EXPECT_EQ(status_in_child([] {
              ::signal(SIGINT, SIG_IGN);
              Result<SignalSource> source = SignalSource::make();
              ::raise(SIGINT);
              return next_number(source) == SIGINT ? 0 : 1;
            }),
            0);
}

TEST(SignalSource, ChildrenLeaveAStatusEvenIfWeWereStartedWithoutCaring) {
  EXPECT_EQ(status_in_child([] {
              ::signal(SIGCHLD, SIG_IGN);
              Result<SignalSource> source = SignalSource::make();
              const pid_t child = ::fork();
              if (child == 0) ::_exit(7);
              int status = 0;
              if (::waitpid(child, &status, 0) != child) return 1;
              if (next_number(source) != SIGCHLD) return 2;
              return WEXITSTATUS(status) == 7 ? 0 : 3;
            }),
            0);
}

TEST(SignalSource, TellsAKeyFromAKill) {
  EXPECT_EQ(status_in_child([] {
              int keyboard = -1;
              int terminal = -1;
              if (::openpty(&keyboard, &terminal, nullptr, nullptr, nullptr) != 0) return 1;
              if (::setsid() < 0 || ::ioctl(terminal, TIOCSCTTY, 0) != 0) return 2;
              Result<SignalSource> source = SignalSource::make();
              ::kill(::getpid(), SIGINT);
              const std::optional<ReceivedSignal> killed = source->next();
              if (!killed || killed->number != SIGINT || killed->from_terminal) return 3;
              constexpr char kControlC = 3;
              if (::write(keyboard, &kControlC, 1) != 1) return 4;
              pollfd readable = {.fd = source->fd(), .events = POLLIN, .revents = 0};
              if (::poll(&readable, 1, 10000) != 1) return 5;
              const std::optional<ReceivedSignal> typed = source->next();
              return typed && typed->number == SIGINT && typed->from_terminal ? 0 : 6;
            }),
            0);
}

TEST(SignalSource, DefaultsEndUsAtOnceEvenByASignalThatCameBefore) {
  for (const int number : {SIGINT, SIGTERM, SIGQUIT}) {
    const pid_t child = ::fork();
    if (child == 0) {
      // As in a background job of a script: what counts is what the user asks for now.
      if (number == SIGINT) ::signal(SIGINT, SIG_IGN);
      Result<SignalSource> source = SignalSource::make(SignalScope::kOfACommand);
      ::raise(number);
      source->restore_defaults({});
      ::_exit(1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == number) << number << ": status " << status;
  }
}

TEST(SignalSource, OneIsSparedAfterATraceThatEndedByItself) {
  for (const int number : {SIGINT, SIGTERM}) {
    const pid_t child = ::fork();
    if (child == 0) {
      Result<SignalSource> source = SignalSource::make();
      ::raise(number);
      source->restore_defaults_after_one(std::chrono::nanoseconds(0));
      ::raise(number);
      ::_exit(1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == number) << number << ": status " << status;
  }
  EXPECT_EQ(status_in_child([] {
              Result<SignalSource> source = SignalSource::make();
              ::raise(SIGINT);
              source->restore_defaults_after_one();
              ::raise(SIGTERM);
              return 0;
            }),
            0);
}

/// As timeout(1) sends it, to the process and to its group.
TEST(SignalSource, SignalThatIsRepeatedAtOnceIsSparedToo) {
  EXPECT_EQ(status_in_child([] {
              Result<SignalSource> source = SignalSource::make();
              source->restore_defaults_after_one(std::chrono::hours(1));
              for (const int number : {SIGINT, SIGINT, SIGTERM, SIGTERM}) ::raise(number);
              return 0;
            }),
            0);
}

/// The terminal sends one and the shell another, and a report may be on its way to a file.
TEST(SignalSource, DefaultsKeepAHangUpFromEndingUs) {
  EXPECT_EQ(status_in_child([] {
              Result<SignalSource> source = SignalSource::make();
              ::raise(SIGHUP);
              source->restore_defaults({});
              ::raise(SIGHUP);
              return 0;
            }),
            0);
}

TEST(SignalSource, TakesThoseOfACommandWithTheirValues) {
  EXPECT_EQ(status_in_child([] {
              Result<SignalSource> source = SignalSource::make(SignalScope::kOfACommand);
              for (const int number : {SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT}) {
                ::raise(number);
                if (next_number(source) != number) return 1;
              }
              for (int i = 1; i <= 3; ++i) ::sigqueue(::getpid(), SIGRTMIN + 1, {.sival_ptr = &source});
              for (int i = 1; i <= 3; ++i) {
                const std::optional<ReceivedSignal> signal = source->next();
                if (!signal || signal->number != SIGRTMIN + 1 || signal->sender != ::getpid()) return 2;
                if (signal->value != std::optional<void*>(&source)) return 3;
              }
              return source->next() ? 4 : 0;
            }),
            0);
}

}  // namespace
}  // namespace hawk
