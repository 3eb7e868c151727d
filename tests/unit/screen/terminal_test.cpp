#include "userspace/screen/terminal.h"

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
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "userspace/base/unique_fd.h"
#include "userspace/screen/terminal_signals.h"

namespace hawk {
namespace {

constexpr std::string_view kEnterScreen = "\x1b[?1049h";
constexpr std::string_view kLeaveScreen = "\x1b[?1049l";
constexpr std::string_view kHideCursor = "\x1b[?25l";
constexpr std::string_view kShowCursor = "\x1b[?12l\x1b[?25h";
constexpr std::string_view kMouseOn = "1000h";
constexpr std::string_view kMouseOff = "1000l";

std::size_t count_of(std::string_view part, std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

/// The screen was entered, and nothing of it left.
void expect_entered(const std::string& bytes) {
  EXPECT_EQ(count_of(kEnterScreen, bytes), 1U) << bytes;
  EXPECT_GT(count_of(kHideCursor, bytes), 0U) << bytes;
  EXPECT_EQ(count_of(kMouseOn, bytes), 1U) << bytes;
  EXPECT_EQ(count_of(kLeaveScreen, bytes), 0U) << bytes;
}

/// The screen was left: it, the hidden cursor and the mouse last of all.
void expect_left(const std::string& bytes) {
  for (const auto& [on, off] :
       {std::pair(kEnterScreen, kLeaveScreen), std::pair(kHideCursor, kShowCursor), std::pair(kMouseOn, kMouseOff)}) {
    ASSERT_NE(bytes.rfind(off), std::string::npos) << bytes;
    if (bytes.rfind(on) != std::string::npos) {
      EXPECT_GT(bytes.rfind(off), bytes.rfind(on)) << bytes;
    }
  }
}

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

/// ncurses finds out what it can send by the value of TERM.
Result<Terminal> make_terminal(const Pty& pty) {
  ::setenv("TERM", "xterm-256color", 1);
  return Terminal::make(pty.ours.get(), pty.ours.get(), true);
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
    const Result<Terminal> terminal = make_terminal(pty);
    ASSERT_TRUE(terminal);
    const termios during = settings(pty);
    EXPECT_EQ(during.c_lflag & (ECHO | ICANON), 0U);
    EXPECT_NE(during.c_lflag & ISIG, 0U);
    EXPECT_EQ(terminal->input_fd(), pty.ours.get());
    expect_entered(shown(pty));
  }
  EXPECT_TRUE(is_same(settings(pty), before));
  expect_left(shown(pty));
}

TEST(Terminal, MovedFromGivesNothingBack) {
  const Pty pty = make_pty();
  Result<Terminal> first = make_terminal(pty);
  {
    const Terminal second = std::move(first).value();
    shown(pty);
  }
  expect_left(shown(pty));
  EXPECT_TRUE(has_echo_and_lines(settings(pty)));
}

TEST(Terminal, CanBeTakenAgain) {
  const Pty pty = make_pty();
  for (int i = 0; i < 2; ++i) {
    const Result<Terminal> terminal = make_terminal(pty);
    ASSERT_TRUE(terminal);
    EXPECT_FALSE(has_echo_and_lines(settings(pty)));
  }
  EXPECT_TRUE(has_echo_and_lines(settings(pty)));
}

TEST(Terminal, RestoringTwiceDoesNoHarm) {
  const Pty pty = make_pty();
  {
    const Result<Terminal> terminal = make_terminal(pty);
    shown(pty);
    restore_terminal();
    EXPECT_TRUE(has_echo_and_lines(settings(pty)));
    restore_terminal();
  }
  restore_terminal();
  expect_left(shown(pty));
}

TEST(Terminal, WhatIsNoTerminalIsRefused) {
  const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  const Result<Terminal> terminal = Terminal::make(null.get(), null.get(), false);
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
    const Result<Terminal> terminal = make_terminal(pty);
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
    expect_left(shown(pty));
  }
}

TEST(Terminal, IsGivenBackByAbort) {
  const Pty pty = make_pty();
  const int status = wait_status_of(pty, SIGABRT, [] { std::abort(); });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) << status;
  EXPECT_TRUE(has_echo_and_lines(settings(pty)));
  expect_left(shown(pty));
}

TEST(Terminal, IsGivenBackByExitWithoutDestructors) {
  const Pty pty = make_pty();
  EXPECT_EQ(wait_status_of(pty, SIGTERM, [] { restore_terminal(); }), 0);
  EXPECT_TRUE(has_echo_and_lines(settings(pty)));
}

TEST(Terminal, IgnoredSignalStaysIgnoredAndLeavesTheScreen) {
  const Pty pty = make_pty();
  const auto previous = ::signal(SIGHUP, SIG_IGN);
  const Result<Terminal> terminal = make_terminal(pty);
  ::raise(SIGHUP);
  EXPECT_FALSE(has_echo_and_lines(settings(pty)));
  expect_entered(shown(pty));
  ::signal(SIGHUP, previous);
}

TEST(Terminal, IsTheShellsWhileWeAreStopped) {
  const Pty pty = make_pty();
  const pid_t child = ::fork();
  if (child == 0) {
    const Result<Terminal> terminal = make_terminal(pty);
    ::raise(SIGTSTP);
    ::_exit(has_echo_and_lines(settings(pty)) ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, WUNTRACED), child);
  ASSERT_TRUE(WIFSTOPPED(status)) << status;
  EXPECT_TRUE(has_echo_and_lines(settings(pty)));
  expect_left(shown(pty));
  ::kill(child, SIGCONT);
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << "did not take the terminal again";
  expect_entered(shown(pty));
}

std::vector<ScreenEvent> events(Terminal& terminal) {
  std::vector<ScreenEvent> all;
  while (const std::optional<ScreenEvent> event = terminal.next_event()) all.push_back(*event);
  return all;
}

TEST(Terminal, KeysComeWithoutEnterAndOneByOne) {
  const Pty pty = make_pty();
  Result<Terminal> terminal = make_terminal(pty);
  EXPECT_TRUE(events(*terminal).empty());
  // As xterm sends them in its application mode, which smkx asks for.
  type(pty, "a\x1bOA\x1bOB\x1bOC\x1bOD\x1b[5~\x1b[6~\x1bOH\x1bOF\r\x7f\x1b[15~q");
  std::vector<Key> keys;
  for (const ScreenEvent& event : events(*terminal)) keys.push_back(event.key);
  EXPECT_EQ(keys,
            (std::vector<Key>{Key::kText, Key::kUp, Key::kDown, Key::kRight, Key::kLeft, Key::kPageUp, Key::kPageDown,
                              Key::kHome, Key::kEnd, Key::kEnter, Key::kBackspace, Key::kOther, Key::kText}));
  type(pty, "\x1b");
  const std::vector<ScreenEvent> alone = events(*terminal);
  ASSERT_EQ(alone.size(), 1U);
  EXPECT_EQ(alone[0].key, Key::kEscape);
}

TEST(Terminal, TextIsItsCharacter) {
  const Pty pty = make_pty();
  Result<Terminal> terminal = make_terminal(pty);
  type(pty, "/x");
  const std::vector<ScreenEvent> typed = events(*terminal);
  ASSERT_EQ(typed.size(), 2U);
  EXPECT_TRUE(typed[0].is('/'));
  EXPECT_TRUE(typed[1].is('x'));
}

TEST(Terminal, ClicksAndTheWheelAreEvents) {
  const Pty pty = make_pty();
  Result<Terminal> terminal = make_terminal(pty);
  shown(pty);
  const auto keys_after = [&](std::string_view bytes) {
    type(pty, bytes);
    std::vector<Key> keys;
    for (const ScreenEvent& event : events(*terminal)) {
      if (event.key == Key::kClick) {
        EXPECT_EQ(event.row, 2U);
        EXPECT_EQ(event.column, 6U);
      }
      if (event.key != Key::kOther) keys.push_back(event.key);
    }
    return keys;
  };
  // SGR mouse reports: button, column and row from 1; M pressed, m released.
  EXPECT_EQ(keys_after("\x1b[<0;7;3M"), (std::vector<Key>{Key::kClick}));
  EXPECT_EQ(keys_after("\x1b[<0;7;3m"), (std::vector<Key>{}));
  EXPECT_EQ(keys_after("\x1b[<0;7;3M\x1b[<0;7;3m"), (std::vector<Key>{Key::kClick}));
  EXPECT_EQ(keys_after("\x1b[<64;1;1M"), (std::vector<Key>{Key::kWheelUp}));
  EXPECT_EQ(keys_after("\x1b[<65;1;1M"), (std::vector<Key>{Key::kWheelDown}));
  terminal->toggle_mouse();
  terminal->draw({});
  EXPECT_GT(count_of(kMouseOff, shown(pty)), 0U);
}

ScreenLine line_of(std::string_view text, bool selected = false) { return {StyledLine{}.add(text), selected}; }

TEST(Terminal, DrawsWithinItsSize) {
  const Pty pty = make_pty();
  Result<Terminal> terminal = make_terminal(pty);
  shown(pty);
  terminal->draw({line_of("one"), line_of("a line of more than twenty columns"), line_of("3"), line_of("4"),
                  line_of("the last line, and full"), line_of("below the screen")});
  const std::string bytes = shown(pty);
  EXPECT_EQ(count_of("one", bytes), 1U) << bytes;
  EXPECT_EQ(count_of("a line of more than", bytes), 1U) << bytes;
  EXPECT_EQ(count_of("twenty", bytes), 0U) << bytes;
  EXPECT_EQ(count_of("below", bytes), 0U) << bytes;
}

TEST(Terminal, TheSelectedLineIsReversed) {
  const Pty pty = make_pty();
  Result<Terminal> terminal = make_terminal(pty);
  shown(pty);
  terminal->draw({line_of("one"), line_of("two", true)});
  const std::string bytes = shown(pty);
  const std::size_t two = bytes.find("two");
  ASSERT_NE(two, std::string::npos) << bytes;
  // The last attribute before it is "reverse" (SGR 7), which the first line has not.
  EXPECT_EQ(bytes.substr(two - 3, 3), ";7m") << bytes;
}

TEST(Terminal, FollowsAnotherSize) {
  const Pty pty = make_pty();
  Result<Terminal> terminal = make_terminal(pty);
  terminal->draw({line_of("a line of more than twenty columns")});
  shown(pty);
  winsize larger = {};
  larger.ws_row = 50;
  larger.ws_col = 132;
  ASSERT_EQ(::ioctl(pty.keyboard_and_screen.get(), TIOCSWINSZ, &larger), 0);
  terminal->draw({line_of("a line of more than twenty columns")});
  EXPECT_EQ(count_of("twenty columns", shown(pty)), 1U);
}

TEST(Terminal, SizeIsThatOfTheTerminalNow) {
  const Pty pty = make_pty();
  const Result<Terminal> terminal = make_terminal(pty);
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
  const Result<Terminal> terminal = make_terminal(pty);
  EXPECT_EQ(terminal->size(), (TerminalSize{24, 80}));
}

TEST(Interactive, NeedsTwoTerminalsAndOneThatCanMoveTheCursor) {
  const Pty pty = make_pty();
  const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  const int tty = pty.ours.get();
  EXPECT_TRUE(is_interactive(tty, tty, "xterm"));
  EXPECT_FALSE(is_interactive(null.get(), tty, "xterm"));
  EXPECT_FALSE(is_interactive(tty, null.get(), "xterm"));
  EXPECT_FALSE(is_interactive(tty, tty, "dumb"));
  EXPECT_FALSE(is_interactive(tty, tty, "no-such-terminal"));
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

}  // namespace
}  // namespace hawk
