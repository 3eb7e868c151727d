// An interactive screen without a curses library: a handful of escape sequences that every terminal of the last
// decades understands (ECMA-48, and the private modes of xterm).
#include "userspace/app/terminal.h"

#include <fmt/core.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "userspace/base/check.h"
#include "userspace/base/write_all.h"

namespace hawk {
namespace {

// Alternate screen on, cursor hidden; and back.
constexpr std::string_view kEnterScreen = "\x1b[?1049h\x1b[?25l";
constexpr std::string_view kLeaveScreen = "\x1b[?25h\x1b[?1049l";
// The terminal shows what lies between the two at once (synchronised output); older ones ignore them.
constexpr std::string_view kBeginFrame = "\x1b[?2026h";
constexpr std::string_view kEndFrame = "\x1b[?2026l";
constexpr std::string_view kHome = "\x1b[H";
constexpr std::string_view kClearToEndOfLine = "\x1b[K";
constexpr std::string_view kClearBelow = "\x1b[J";
constexpr std::string_view kPlainText = "\x1b[m";

// Signals that end us, by default or by a crash. Those that SignalSource blocks never reach the handler.
constexpr std::array kDeadlySignals{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};

/// What the signal handlers need. Global because handlers have no other way to it; only one terminal can be ours.
struct Screen {
  std::atomic<bool> active = false;
  int input_fd = -1;
  int output_fd = -1;
  termios as_found = {};
  termios as_used = {};
  std::array<struct sigaction, kDeadlySignals.size()> previous_actions = {};
  struct sigaction previous_stop_action = {};
};
Screen current_screen;

/// Gives up when the terminal does: there is nobody to tell.
void paint(int fd, std::string_view bytes) { static_cast<void>(write_all(fd, bytes)); }

void enter_screen() {
  ::tcsetattr(current_screen.input_fd, TCSANOW, &current_screen.as_used);
  paint(current_screen.output_fd, kEnterScreen);
}

void leave_screen() {
  paint(current_screen.output_fd, kLeaveScreen);
  ::tcsetattr(current_screen.input_fd, TCSANOW, &current_screen.as_found);
}

std::size_t deadly_index(int signal_number) {
  std::size_t index = 0;
  while (index < kDeadlySignals.size() - 1 && kDeadlySignals[index] != signal_number) ++index;
  return index;
}

/// Restores the terminal, then lets the signal do what it would have done without us.
void on_deadly_signal(int signal_number, siginfo_t* info, void*) {
  const int saved_errno = errno;
  restore_terminal();
  ::sigaction(signal_number, &current_screen.previous_actions[deadly_index(signal_number)], nullptr);
  // A faulting instruction runs, and faults, again; its first report shall be the one that is seen.
  const bool is_fault =
      (signal_number == SIGSEGV || signal_number == SIGBUS || signal_number == SIGFPE || signal_number == SIGILL) &&
      info->si_code > 0;
  if (!is_fault) ::raise(signal_number);
  errno = saved_errno;
}

/// Ctrl-Z: the shell gets its terminal back, and we take it again when we go on.
void on_stop_signal(int) {
  const int saved_errno = errno;
  const bool was_active = current_screen.active;
  if (was_active) leave_screen();
  ::raise(SIGSTOP);
  if (was_active) {
    enter_screen();
    // The screen is empty now, and may have another size: a reason to draw it.
    ::raise(SIGWINCH);
  }
  errno = saved_errno;
}

bool was_ignored(const struct sigaction& action) { return action.sa_handler == SIG_IGN; }

/// A signal that was ignored (nohup) stays so.
void install_handlers() {
  struct sigaction deadly = {};
  deadly.sa_sigaction = on_deadly_signal;
  deadly.sa_flags = SA_SIGINFO;
  for (std::size_t i = 0; i < kDeadlySignals.size(); ++i) {
    struct sigaction& previous = current_screen.previous_actions[i];
    ::sigaction(kDeadlySignals[i], nullptr, &previous);
    if (!was_ignored(previous)) ::sigaction(kDeadlySignals[i], &deadly, nullptr);
  }
  struct sigaction stop = {};
  stop.sa_handler = on_stop_signal;
  stop.sa_flags = SA_RESTART;
  struct sigaction& previous = current_screen.previous_stop_action;
  ::sigaction(SIGTSTP, nullptr, &previous);
  if (!was_ignored(previous)) ::sigaction(SIGTSTP, &stop, nullptr);
}

void remove_handlers() {
  for (std::size_t i = 0; i < kDeadlySignals.size(); ++i) {
    ::sigaction(kDeadlySignals[i], &current_screen.previous_actions[i], nullptr);
  }
  ::sigaction(SIGTSTP, &current_screen.previous_stop_action, nullptr);
}

/// Length of the escape sequence that `text` begins with (its first byte is ESC): up to a final letter for CSI, one
/// more byte for the others. All of `text` when the sequence is cut short.
std::size_t escape_length(std::string_view text) {
  if (text.size() < 2) return text.size();
  if (text[1] == 'O') return std::min<std::size_t>(text.size(), 3);  // SS3: arrows in application mode, F1 to F4
  if (text[1] != '[') return 2;
  std::size_t length = 2;
  while (length < text.size() && (text[length] < '@' || text[length] > '~')) ++length;
  return std::min(length + 1, text.size());
}

bool is_utf8_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

/// Columns that `line` takes.
std::size_t column_count(std::string_view line) {
  std::size_t columns = 0;
  for (std::size_t i = 0; i < line.size();) {
    if (line[i] == '\x1b') {
      i += escape_length(line.substr(i));
      continue;
    }
    if (!is_utf8_continuation(line[i])) ++columns;
    ++i;
  }
  return columns;
}

}  // namespace

bool is_interactive(int input_fd, int output_fd, const char* term) {
  if (term == nullptr || *term == '\0' || std::string_view(term) == "dumb") return false;
  if (::isatty(input_fd) != 1 || ::isatty(output_fd) != 1) return false;
  const pid_t foreground = ::tcgetpgrp(input_fd);
  // Where it is not the terminal of our session (su -c) there is no job control that could stop us.
  return foreground < 0 || foreground == ::getpgrp();
}

Result<Terminal> Terminal::make(int input_fd, int output_fd) {
  HAWK_CHECK(!current_screen.active, "two terminals at a time");
  if (::tcgetattr(input_fd, &current_screen.as_found) != 0) {
    return fail(ExitCode::kFile, fmt::format("read the terminal's settings: {}", std::strerror(errno)),
                "run it with its output in a pipe or with -o FILE to get a plain report");
  }
  current_screen.input_fd = input_fd;
  current_screen.output_fd = output_fd;
  current_screen.as_used = current_screen.as_found;
  current_screen.as_used.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  // A read with nothing typed returns at once. O_NONBLOCK would do so too, but also in the shell that shares the
  // descriptor with us.
  current_screen.as_used.c_cc[VMIN] = 0;
  current_screen.as_used.c_cc[VTIME] = 0;
  install_handlers();
  current_screen.active = true;
  enter_screen();
  return Terminal(input_fd, output_fd);
}

Terminal::Terminal(Terminal&& other) noexcept
    : input_fd_(other.input_fd_), output_fd_(std::exchange(other.output_fd_, -1)), typed_(std::move(other.typed_)) {}

Terminal::~Terminal() {
  if (output_fd_ < 0) return;
  restore_terminal();
  remove_handlers();
}

TerminalSize Terminal::size() const {
  winsize size = {};
  if (::ioctl(output_fd_, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) return {};
  return {.rows = size.ws_row, .columns = size.ws_col};
}

std::optional<char> Terminal::read_key() {
  if (const std::optional<char> key = take_key(typed_)) return key;
  char bytes[256];
  const ssize_t got = ::read(input_fd_, bytes, sizeof(bytes));
  if (got > 0) typed_.append(bytes, static_cast<std::size_t>(got));
  return take_key(typed_);
}

void Terminal::draw(std::string_view screen) { paint(output_fd_, compose_screen(screen, size())); }

void restore_terminal() {
  if (current_screen.active.exchange(false)) leave_screen();
}

std::string compose_screen(std::string_view screen, TerminalSize size) {
  std::string bytes(kBeginFrame);
  bytes += kHome;
  if (screen.ends_with('\n')) screen.remove_suffix(1);
  std::size_t row = 0;
  for (std::size_t start = 0; row < size.rows && start <= screen.size(); ++row) {
    const std::size_t line_end = std::min(screen.find('\n', start), screen.size());
    const std::string line = cut_to_columns(screen.substr(start, line_end - start), size.columns);
    if (row > 0) bytes += "\r\n";
    bytes += line;
    // After a character in the last column some terminals would clear that character.
    if (column_count(line) < size.columns) bytes += kClearToEndOfLine;
    start = line_end + 1;
  }
  bytes += kPlainText;
  // From the next row on: clearing from the cursor on would meet the same character.
  if (row < size.rows) {
    bytes += "\r\n";
    bytes += kClearBelow;
  }
  bytes += kEndFrame;
  return bytes;
}

std::string cut_to_columns(std::string_view line, std::size_t columns) {
  std::string cut;
  std::size_t used = 0;
  for (std::size_t i = 0; i < line.size();) {
    if (line[i] == '\x1b') {
      const std::size_t length = escape_length(line.substr(i));
      cut += line.substr(i, length);
      i += length;
      continue;
    }
    if (!is_utf8_continuation(line[i])) ++used;
    if (used <= columns) cut += line[i];
    ++i;
  }
  return cut;
}

std::optional<char> take_key(std::string& typed) {
  const std::string_view bytes = typed;
  std::size_t taken = 0;
  std::optional<char> key;
  while (!key && taken < bytes.size()) {
    const char first = bytes[taken];
    if (first == '\x1b') {
      taken += escape_length(bytes.substr(taken));
    } else {
      if (static_cast<unsigned char>(first) < 0x80) key = first;
      ++taken;
    }
  }
  typed.erase(0, taken);
  return key;
}

}  // namespace hawk
