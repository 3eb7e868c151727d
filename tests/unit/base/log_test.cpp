#include "userspace/base/log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

namespace hawk {
namespace {

/// What `write` sends to stderr at `level`; stdout must stay empty, because it is the data channel.
template <class Write>
std::string stderr_of(Verbosity level, Write write) {
  const Verbosity before = verbosity();
  set_verbosity(level);
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  write();
  std::string written = testing::internal::GetCapturedStderr();
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  set_verbosity(before);
  return written;
}

TEST(Log, ErrorHasHintOnALineOfItsOwn) {
  const Error error{ExitCode::kFile, "open /nowhere: No such file or directory", "create it first"};
  EXPECT_EQ(stderr_of(Verbosity::kQuiet, [&] { log_error(error); }),
            "hawktrace: error: open /nowhere: No such file or directory\nhint: create it first\n");
}

TEST(Log, ErrorWithoutHintIsOneLine) {
  const Error error{ExitCode::kFile, "it broke", ""};
  EXPECT_EQ(stderr_of(Verbosity::kNormal, [&] { log_error(error); }), "hawktrace: error: it broke\n");
}

TEST(Log, WarningSurvivesQuiet) {
  EXPECT_EQ(stderr_of(Verbosity::kQuiet, [] { log_warning("careful"); }), "hawktrace: warning: careful\n");
}

TEST(Log, InfoIsSilencedByQuietOnly) {
  const auto write = [] { log_info("attached"); };
  EXPECT_EQ(stderr_of(Verbosity::kQuiet, write), "");
  EXPECT_EQ(stderr_of(Verbosity::kNormal, write), "hawktrace: attached\n");
  EXPECT_EQ(stderr_of(Verbosity::kVerbose, write), "hawktrace: attached\n");
}

TEST(Log, VerboseNeedsVerbose) {
  const auto write = [] { log_verbose("probe at +9"); };
  EXPECT_EQ(stderr_of(Verbosity::kQuiet, write), "");
  EXPECT_EQ(stderr_of(Verbosity::kNormal, write), "");
  EXPECT_EQ(stderr_of(Verbosity::kVerbose, write), "hawktrace: probe at +9\n");
}

TEST(Log, BracesInAMessageAreText) {
  EXPECT_EQ(stderr_of(Verbosity::kNormal, [] { log_info("{} {0} {{"); }), "hawktrace: {} {0} {{\n");
}

TEST(Log, WhatIsQuotedCommandsNoTerminal) {
  const std::string title =
      "/tmp/\x1b]0;pwned\x07\n\xc2\x9b"
      "31m\u202E\xff.so";
  const std::string safe = "/tmp/\uFFFD]0;pwned\uFFFD\uFFFD\uFFFD31m\uFFFD\uFFFD.so";
  EXPECT_EQ(stderr_of(Verbosity::kNormal, [&] { log_warning(title); }), "hawktrace: warning: " + safe + "\n");
  EXPECT_EQ(stderr_of(Verbosity::kNormal, [&] { log_info(title); }), "hawktrace: " + safe + "\n");
  EXPECT_EQ(stderr_of(Verbosity::kVerbose, [&] { log_verbose(title); }), "hawktrace: " + safe + "\n");
  EXPECT_EQ(stderr_of(Verbosity::kNormal,
                      [&] {
                        log_error({ExitCode::kFile, title, title});
                      }),
            "hawktrace: error: " + safe + "\nhint: " + safe + "\n");
}

TEST(Log, AMessageLongerThanItsBufferIsWhole) {
  const std::string name(100'000, 'x');
  EXPECT_EQ(stderr_of(Verbosity::kNormal, [&] { log_info(name); }), "hawktrace: " + name + "\n");
}

/// Runs `body` with `fd` as stderr, in a child that fails when the message throws or is killed by a signal.
template <class Body>
bool lives_with_stderr(int fd, Body body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGPIPE, SIG_IGN);
    fd < 0 ? ::close(STDERR_FILENO) : ::dup2(fd, STDERR_FILENO);
    ::alarm(20);
    body();
    ::_exit(0);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status == 0;
}

void say_everything() {
  log_error({ExitCode::kFile, "it broke", "mend it"});
  log_warning("careful");
  log_info("attached");
}

TEST(Log, StderrThatTakesNothingIsNoFailure) {
  EXPECT_TRUE(lives_with_stderr(-1, say_everything)) << "closed";
  const int full = ::open("/dev/full", O_WRONLY);
  EXPECT_TRUE(lives_with_stderr(full, say_everything));
  ::close(full);
  int ends[2] = {};
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  EXPECT_TRUE(lives_with_stderr(ends[1], say_everything)) << "its reader has disappeared";
  ::close(ends[1]);
}

/// Neither a reader that has fallen asleep nor one that polls keeps the trace waiting for ever.
TEST(Log, StderrThatIsNotReadIsNoFailure) {
  for (const int flags : {0, O_NONBLOCK}) {
    int ends[2] = {};
    ASSERT_EQ(::pipe2(ends, flags), 0);
    EXPECT_TRUE(lives_with_stderr(ends[1], [] {
      const std::string line(1000, 'x');
      for (int i = 0; i < 1000; ++i) log_warning(line);  // more than the pipe holds
    }));
    ::close(ends[0]);
    ::close(ends[1]);
  }
}

}  // namespace
}  // namespace hawk
