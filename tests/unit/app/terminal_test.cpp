#include "userspace/app/terminal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "userspace/base/unique_fd.h"

namespace hawk {
namespace {

constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l";
constexpr std::string_view kLeave = "\x1b[?25h\x1b[?1049l";

/// A terminal of 5 rows and 20 columns, and the end at which its user sits.
struct Pty {
  UniqueFd keyboard_and_screen;
  UniqueFd ours;
};

Pty make_pty() {
  int master = -1;
  int slave = -1;
  winsize size = {};
  size.ws_row = 5;
  size.ws_col = 20;
  EXPECT_EQ(::openpty(&master, &slave, nullptr, nullptr, &size), 0);
  return {UniqueFd(master), UniqueFd(slave)};
}

/// All that the screen was sent up to now.
std::string shown(const Pty& pty) {
  std::string bytes;
  pollfd readable = {.fd = pty.keyboard_and_screen.get(), .events = POLLIN, .revents = 0};
  while (::poll(&readable, 1, 0) == 1 && (readable.revents & POLLIN) != 0) {
    char chunk[4096];
    const ssize_t got = ::read(pty.keyboard_and_screen.get(), chunk, sizeof(chunk));
    if (got <= 0) break;
    bytes.append(chunk, static_cast<std::size_t>(got));
  }
  return bytes;
}

void type(const Pty& pty, std::string_view keys) {
  ASSERT_EQ(::write(pty.keyboard_and_screen.get(), keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
}

termios settings(const Pty& pty) {
  termios now = {};
  EXPECT_EQ(::tcgetattr(pty.ours.get(), &now), 0);
  return now;
}

bool has_echo_and_lines(const termios& settings) {
  return (settings.c_lflag & ECHO) != 0 && (settings.c_lflag & ICANON) != 0;
}

bool is_same(const termios& a, const termios& b) {
  return a.c_iflag == b.c_iflag && a.c_oflag == b.c_oflag && a.c_cflag == b.c_cflag && a.c_lflag == b.c_lflag &&
         std::equal(std::begin(a.c_cc), std::end(a.c_cc), std::begin(b.c_cc));
}

TEST(Terminal, TakesTheScreenAndGivesItBack) {
  const Pty pty = make_pty();
  const termios before = settings(pty);
  ASSERT_TRUE(has_echo_and_lines(before));
  {
    const Result<Terminal> terminal = Terminal::make(pty.ours.get(), pty.ours.get());
    ASSERT_TRUE(terminal);
    const termios during = settings(pty);
    EXPECT_EQ(during.c_lflag & (ECHO | ICANON), 0U);
    EXPECT_NE(during.c_lflag & ISIG, 0U);
    EXPECT_EQ(terminal->input_fd(), pty.ours.get());
    EXPECT_EQ(shown(pty), kEnter);
  }
  EXPECT_TRUE(is_same(settings(pty), before));
  EXPECT_EQ(shown(pty), kLeave);
}

TEST(Terminal, MovedFromGivesNothingBack) {
  const Pty pty = make_pty();
  Result<Terminal> first = Terminal::make(pty.ours.get(), pty.ours.get());
  {
    const Terminal second = std::move(first).value();
    shown(pty);
  }
  EXPECT_EQ(shown(pty), kLeave);
  EXPECT_TRUE(has_echo_and_lines(settings(pty)));
}

TEST(Terminal, CanBeTakenAgain) {
  const Pty pty = make_pty();
  for (int i = 0; i < 2; ++i) {
    const Result<Terminal> terminal = Terminal::make(pty.ours.get(), pty.ours.get());
    ASSERT_TRUE(terminal);
    EXPECT_FALSE(has_echo_and_lines(settings(pty)));
  }
  EXPECT_TRUE(has_echo_and_lines(settings(pty)));
}

TEST(Terminal, RestoringTwiceDoesNoHarm) {
  const Pty pty = make_pty();
  {
    const Result<Terminal> terminal = Terminal::make(pty.ours.get(), pty.ours.get());
    shown(pty);
    restore_terminal();
    EXPECT_TRUE(has_echo_and_lines(settings(pty)));
    restore_terminal();
  }
  restore_terminal();
  EXPECT_EQ(shown(pty), kLeave);
}

TEST(Terminal, WhatIsNoTerminalIsRefused) {
  const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  const Result<Terminal> terminal = Terminal::make(null.get(), null.get());
  ASSERT_FALSE(terminal);
  EXPECT_EQ(terminal.error().exit_code, ExitCode::kFile);
  EXPECT_EQ(terminal.error().what, "read the terminal's settings: Inappropriate ioctl for device");
}

/// Runs `act` in a child that has the terminal. The signal's action is the default one, not that of a sanitizer.
template <class Act>
int wait_status_of(const Pty& pty, int signal_number, Act act) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(signal_number, SIG_DFL);
    const Result<Terminal> terminal = Terminal::make(pty.ours.get(), pty.ours.get());
    if (!terminal || has_echo_and_lines(settings(pty))) ::_exit(1);
    act();
    ::_exit(0);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

TEST(Terminal, IsGivenBackWhenASignalEndsUs) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
    const Pty pty = make_pty();
    const termios before = settings(pty);
    const int status = wait_status_of(pty, number, [number] { ::raise(number); });
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == number) << number << ": status " << status;
    EXPECT_TRUE(is_same(settings(pty), before)) << number;
    EXPECT_EQ(shown(pty), std::string(kEnter) + std::string(kLeave)) << number;
  }
}

TEST(Terminal, IsGivenBackByAbort) {
  const Pty pty = make_pty();
  const int status = wait_status_of(pty, SIGABRT, [] { std::abort(); });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) << status;
  EXPECT_TRUE(has_echo_and_lines(settings(pty)));
  EXPECT_EQ(shown(pty), std::string(kEnter) + std::string(kLeave));
}

TEST(Terminal, IsGivenBackByExitWithoutDestructors) {
  const Pty pty = make_pty();
  EXPECT_EQ(wait_status_of(pty, SIGTERM, [] { restore_terminal(); }), 0);
  EXPECT_TRUE(has_echo_and_lines(settings(pty)));
}

TEST(Terminal, IgnoredSignalStaysIgnoredAndLeavesTheScreen) {
  const Pty pty = make_pty();
  const auto previous = ::signal(SIGHUP, SIG_IGN);
  const Result<Terminal> terminal = Terminal::make(pty.ours.get(), pty.ours.get());
  ::raise(SIGHUP);
  EXPECT_FALSE(has_echo_and_lines(settings(pty)));
  EXPECT_EQ(shown(pty), kEnter);
  ::signal(SIGHUP, previous);
}

TEST(Terminal, IsTheShellsWhileWeAreStopped) {
  const Pty pty = make_pty();
  const pid_t child = ::fork();
  if (child == 0) {
    const Result<Terminal> terminal = Terminal::make(pty.ours.get(), pty.ours.get());
    ::raise(SIGTSTP);
    ::_exit(has_echo_and_lines(settings(pty)) ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, WUNTRACED), child);
  ASSERT_TRUE(WIFSTOPPED(status)) << status;
  EXPECT_TRUE(has_echo_and_lines(settings(pty)));
  EXPECT_EQ(shown(pty), std::string(kEnter) + std::string(kLeave));
  ::kill(child, SIGCONT);
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << "did not take the terminal again";
  EXPECT_EQ(shown(pty), kEnter);
}

TEST(Terminal, KeysComeWithoutEnterAndOneByOne) {
  const Pty pty = make_pty();
  Result<Terminal> terminal = Terminal::make(pty.ours.get(), pty.ours.get());
  EXPECT_EQ(terminal->read_key(), std::nullopt);
  type(pty, "a\x1b[Aq");
  EXPECT_EQ(terminal->read_key(), 'a');
  EXPECT_EQ(terminal->read_key(), 'q');
  EXPECT_EQ(terminal->read_key(), std::nullopt);
}

TEST(Terminal, SizeIsThatOfTheTerminalNow) {
  const Pty pty = make_pty();
  const Result<Terminal> terminal = Terminal::make(pty.ours.get(), pty.ours.get());
  EXPECT_EQ(terminal->size(), (TerminalSize{5, 20}));
  winsize larger = {};
  larger.ws_row = 50;
  larger.ws_col = 132;
  ASSERT_EQ(::ioctl(pty.keyboard_and_screen.get(), TIOCSWINSZ, &larger), 0);
  EXPECT_EQ(terminal->size(), (TerminalSize{50, 132}));
}

TEST(Terminal, UnknownSizeIsTheUsualOne) {
  const Pty pty = make_pty();
  winsize unknown = {};
  ASSERT_EQ(::ioctl(pty.keyboard_and_screen.get(), TIOCSWINSZ, &unknown), 0);
  const Result<Terminal> terminal = Terminal::make(pty.ours.get(), pty.ours.get());
  EXPECT_EQ(terminal->size(), (TerminalSize{24, 80}));
}

TEST(Terminal, DrawsWithinItsSize) {
  const Pty pty = make_pty();
  Result<Terminal> terminal = Terminal::make(pty.ours.get(), pty.ours.get());
  shown(pty);
  terminal->draw("one\ntwo\n");
  EXPECT_EQ(shown(pty), "\x1b[?2026h\x1b[Hone\x1b[K\r\r\ntwo\x1b[K\x1b[m\r\r\n\x1b[J\x1b[?2026l");
}

TEST(Interactive, NeedsTwoTerminalsAndOneThatCanMoveTheCursor) {
  const Pty pty = make_pty();
  const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  const int tty = pty.ours.get();
  EXPECT_TRUE(is_interactive(tty, tty, "xterm"));
  EXPECT_FALSE(is_interactive(null.get(), tty, "xterm"));
  EXPECT_FALSE(is_interactive(tty, null.get(), "xterm"));
  EXPECT_FALSE(is_interactive(tty, tty, "dumb"));
  EXPECT_FALSE(is_interactive(tty, tty, ""));
  EXPECT_FALSE(is_interactive(tty, tty, nullptr));
}

TEST(Interactive, BackgroundJobIsNot) {
  const Pty pty = make_pty();
  const pid_t child = ::fork();
  if (child == 0) {
    // The leader of a session whose terminal this is; its child is put in another group, as a shell does with `&`.
    ::setsid();
    if (::ioctl(pty.ours.get(), TIOCSCTTY, 0) != 0) ::_exit(1);
    if (!is_interactive(pty.ours.get(), pty.ours.get(), "xterm")) ::_exit(2);
    const pid_t job = ::fork();
    if (job == 0) {
      ::setpgid(0, 0);
      ::_exit(is_interactive(pty.ours.get(), pty.ours.get(), "xterm") ? 3 : 0);
    }
    int status = 0;
    ::waitpid(job, &status, 0);
    ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 4);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(ComposeScreen, ClearsTheRestOfEachLineAndOfTheScreen) {
  EXPECT_EQ(compose_screen("ab\n\nc", {5, 4}),
            "\x1b[?2026h\x1b[Hab\x1b[K\r\n\x1b[K\r\nc\x1b[K\x1b[m\r\n\x1b[J\x1b[?2026l");
  EXPECT_EQ(compose_screen("", {5, 4}), "\x1b[?2026h\x1b[H\x1b[K\x1b[m\r\n\x1b[J\x1b[?2026l");
}

TEST(ComposeScreen, CutsWhatDoesNotFitAndNeverScrolls) {
  EXPECT_EQ(compose_screen("abcde\nf\ng\n", {2, 4}), "\x1b[?2026h\x1b[Habcd\r\nf\x1b[K\x1b[m\x1b[?2026l");
}

TEST(CutToColumns, CountsCharactersNotBytesOrColours) {
  EXPECT_EQ(cut_to_columns("abc", 3), "abc");
  EXPECT_EQ(cut_to_columns("abc", 2), "ab");
  EXPECT_EQ(cut_to_columns("abc", 0), "");
  EXPECT_EQ(cut_to_columns("\xc3\xa4\xc3\xb6\xc3\xbc", 2), "\xc3\xa4\xc3\xb6");
  EXPECT_EQ(cut_to_columns("\x1b[1mabc\x1b[0md", 2), "\x1b[1mab\x1b[0m");
  EXPECT_EQ(cut_to_columns("a\x1b[1", 5), "a\x1b[1");
}

TEST(TakeKey, SwallowsKeysOfManyBytes) {
  std::string typed = "\x1b[A\x1b[1;5C\x1bOPx\x1bqy\xc3\xa4z\x1b";
  EXPECT_EQ(take_key(typed), 'x');
  EXPECT_EQ(take_key(typed), 'y');
  EXPECT_EQ(take_key(typed), 'z');
  EXPECT_EQ(take_key(typed), std::nullopt);
  EXPECT_EQ(typed, "");
}

}  // namespace
}  // namespace hawk
