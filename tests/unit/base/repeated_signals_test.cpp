#include "userspace/base/repeated_signals.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>

namespace hawk {
namespace {

/// Of a child process that runs `work`, as of wait(2).
template <class Work>
int status_of(Work work) {
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    ::_exit(0);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

/// To the process, as users send it.
void send(int number) { ::kill(::getpid(), number); }

/// Of several, SIGHUP is taken last.
void wait_until_taken(int number) {
  sigset_t pending;
  do {
    ::sched_yield();
    ::sigpending(&pending);
  } while (::sigismember(&pending, number) == 1);
}

TEST(RepeatedSignals, AreForgottenWhileTheTraceEndsAndAfterwards) {
  EXPECT_EQ(status_of([] {
              Result<SignalSource> source = SignalSource::make(SignalScope::kOfACommand);
              send(SIGTERM);
              RepeatedSignals repeated(*source, std::chrono::hours(1));
              for (const int number : {SIGINT, SIGTERM, SIGQUIT, SIGHUP}) send(number);
              repeated.restore_defaults();
              for (const int number : {SIGINT, SIGTERM, SIGQUIT, SIGHUP}) send(number);
            }),
            0);
}

TEST(RepeatedSignals, OneThatComesLaterEndsUsOnceDefaultsAreRestored) {
  const int status = status_of([] {
    Result<SignalSource> source = SignalSource::make();
    for (const int number : {SIGINT, SIGHUP}) send(number);
    RepeatedSignals repeated(*source, std::chrono::nanoseconds(0));
    wait_until_taken(SIGHUP);
    send(SIGTERM);
    repeated.restore_defaults();
  });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) << status;
}

TEST(RepeatedSignals, WhatACommandIsSentIsKept) {
  EXPECT_EQ(status_of([] {
              Result<SignalSource> source = SignalSource::make(SignalScope::kOfACommand);
              {
                RepeatedSignals repeated(*source, std::chrono::hours(1));
                send(SIGUSR1);
              }
              const std::optional<ReceivedSignal> signal = source->next();
              if (!signal || signal->number != SIGUSR1) ::_exit(1);
            }),
            0);
}

}  // namespace
}  // namespace hawk
