#include "userspace/screen/terminal.h"

#define NCURSES_NOMACROS 1  // `move` and `erase` are names of the standard library too
#include <curses.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cwchar>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "userspace/base/check.h"
#include "userspace/base/unique_fd.h"
#include "userspace/screen/terminal_capabilities.h"
#include "userspace/screen/terminal_signals.h"

namespace hawk {
namespace {

constexpr int kEscapeDelayMs = 25;  // how long the rest of a key's bytes may take; a lone Esc is known after that
constexpr short kGoodPair = 1;
constexpr short kBadPair = 2;
// Press and release that arrive together are one click; else the press counts.
constexpr mmask_t kClick = BUTTON1_PRESSED | BUTTON1_CLICKED;
constexpr mmask_t kMouseEvents = kClick | BUTTON4_PRESSED | BUTTON5_PRESSED;

/// What ncurses keeps for us. Global as its state is.
struct Curses {
  std::FILE* input = nullptr;
  std::FILE* output = nullptr;
  SCREEN* screen = nullptr;
  WINDOW* keys = nullptr;  ///< a pad: reading keys from it draws nothing
};
Curses curses;

/// xterm's, which ncurses sends too where the terminal has a mouse.
std::string mouse_off() { return terminal_capability("kmous").empty() ? "" : "\x1b[?1000l\x1b[?1006l"; }
std::string mouse_on() { return terminal_capability("kmous").empty() ? "" : "\x1b[?1006h\x1b[?1000h"; }

void close_streams() {
  if (curses.input != nullptr) std::fclose(std::exchange(curses.input, nullptr));
  if (curses.output != nullptr) std::fclose(std::exchange(curses.output, nullptr));
}

/// A stream of its own on the same terminal: closing it must not close what is the user's.
std::FILE* open_stream(int fd, const char* mode) {
  const int copy = ::dup(fd);
  std::FILE* const stream = copy < 0 ? nullptr : ::fdopen(copy, mode);
  if (stream == nullptr && copy >= 0) ::close(copy);
  return stream;
}

/// Until endwin() was called once, ncurses 6.4 writes out what it has at every movement of the cursor (_nc_mvcur):
/// dozens of writes for a screen. Nothing of that window reaches the terminal.
void end_first_window(int output_fd) {
  const UniqueFd nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  const int output = ::fileno(curses.output);
  if (!nowhere || ::dup2(nowhere.get(), output) < 0) return;
  ::endwin();
  ::dup2(output_fd, output);
  ::refresh();
}

bool start_curses(int input_fd, int output_fd) {
  curses.input = open_stream(input_fd, "r");
  curses.output = open_stream(output_fd, "w");
  if (curses.input == nullptr || curses.output == nullptr) return false;
  curses.screen = ::newterm(nullptr, curses.output, curses.input);
  if (curses.screen == nullptr) return false;
  end_first_window(output_fd);
  ::set_escdelay(kEscapeDelayMs);
  ::cbreak();
  ::noecho();
  ::curs_set(0);
  ::leaveok(stdscr, TRUE);
  ::typeahead(-1);
  curses.keys = ::newpad(1, 1);
  if (curses.keys == nullptr) return false;
  ::keypad(curses.keys, TRUE);
  ::nodelay(curses.keys, TRUE);
  return true;
}

void start_colors() {
  if (!::has_colors()) return;
  ::start_color();
  ::use_default_colors();
  ::init_pair(kGoodPair, COLOR_GREEN, -1);
  ::init_pair(kBadPair, COLOR_RED, -1);
}

void stop_curses() {
  if (curses.keys != nullptr) ::delwin(std::exchange(curses.keys, nullptr));
  if (curses.screen != nullptr) ::delscreen(std::exchange(curses.screen, nullptr));
  close_streams();
}

chtype attributes(Style style, bool color) {
  switch (style) {
    case Style::kPlain:
      return A_NORMAL;
    case Style::kStrong:
      return A_BOLD;
    case Style::kDim:
      return A_DIM;
    case Style::kGood:
      return color ? COLOR_PAIR(kGoodPair) : A_NORMAL;
    case Style::kBad:
      return color ? A_BOLD | COLOR_PAIR(kBadPair) : A_BOLD;
  }
  HAWK_CHECK(false, "a style without attributes");
}

bool is_plain(char c) { return c >= ' ' && c <= '~'; }

/// Returns the column behind it. Cells of plain ASCII are put as they are: addnstr(3) asks of each character what it
/// does, how wide it is and whether it belongs to the one before.
int put_text(int row, int column, const std::string& text, chtype look) {
  if (std::all_of(text.begin(), text.end(), is_plain)) {
    std::vector<chtype> cells;
    cells.reserve(text.size());
    for (const char c : text) cells.push_back(static_cast<unsigned char>(c) | look);
    ::mvaddchnstr(row, column, cells.data(), static_cast<int>(cells.size()));
    return column + static_cast<int>(cells.size());
  }
  ::attrset(static_cast<int>(look));
  ::mvaddnstr(row, column, text.c_str(), static_cast<int>(text.size()));
  ::attrset(A_NORMAL);
  return ::getcury(stdscr) == row ? ::getcurx(stdscr) : COLS;
}

void draw_line(int row, const ScreenLine& line, std::size_t columns, bool color) {
  int column = 0;
  for (const StyledPiece& piece : line.text.pieces(columns)) {
    column = put_text(row, column, piece.text, attributes(piece.style, color));
  }
  if (line.selected) ::mvchgat(row, 0, -1, A_REVERSE, 0, nullptr);
}

std::string utf8(wint_t character) {
  std::array<char, MB_LEN_MAX> bytes = {};
  std::mbstate_t state = {};
  const std::size_t length = std::wcrtomb(bytes.data(), static_cast<wchar_t>(character), &state);
  return length == static_cast<std::size_t>(-1) ? std::string() : std::string(bytes.data(), length);
}

ScreenEvent character_event(wint_t character) {
  switch (character) {
    case '\r':
    case '\n':
      return {.key = Key::kEnter};
    case 0x1b:
      return {.key = Key::kEscape};
    case 0x08:
    case 0x7f:
      return {.key = Key::kBackspace};
    default:
      break;
  }
  if (character < ' ') return {};
  ScreenEvent event = {.key = Key::kText, .text = utf8(character)};
  if (event.text.empty()) event.key = Key::kOther;
  return event;
}

ScreenEvent mouse_event() {
  MEVENT mouse = {};
  if (::getmouse(&mouse) != OK) return {};
  if ((mouse.bstate & BUTTON4_PRESSED) != 0) return {.key = Key::kWheelUp};
  if ((mouse.bstate & BUTTON5_PRESSED) != 0) return {.key = Key::kWheelDown};
  if ((mouse.bstate & kClick) == 0 || mouse.x < 0 || mouse.y < 0) return {};
  return {.key = Key::kClick, .row = static_cast<std::size_t>(mouse.y), .column = static_cast<std::size_t>(mouse.x)};
}

ScreenEvent key_event(wint_t code) {
  switch (code) {
    case KEY_UP:
      return {.key = Key::kUp};
    case KEY_DOWN:
      return {.key = Key::kDown};
    case KEY_LEFT:
      return {.key = Key::kLeft};
    case KEY_RIGHT:
      return {.key = Key::kRight};
    case KEY_PPAGE:
      return {.key = Key::kPageUp};
    case KEY_NPAGE:
      return {.key = Key::kPageDown};
    case KEY_HOME:
      return {.key = Key::kHome};
    case KEY_END:
      return {.key = Key::kEnd};
    case KEY_ENTER:
      return {.key = Key::kEnter};
    case KEY_BACKSPACE:
      return {.key = Key::kBackspace};
    case KEY_MOUSE:
      return mouse_event();
    default:
      return {};
  }
}

}  // namespace

bool is_interactive(int input_fd, int output_fd, const char* term) {
  if (term == nullptr || *term == '\0') return false;
  if (::isatty(input_fd) != 1 || ::isatty(output_fd) != 1) return false;
  if (!can_move_cursor(term, output_fd)) return false;
  const pid_t foreground = ::tcgetpgrp(input_fd);
  // Where it is not the terminal of our session (su -c) there is no job control that could stop us.
  return foreground < 0 || foreground == ::getpgrp();
}

Result<Terminal> Terminal::make(int input_fd, int output_fd, bool color) {
  HAWK_CHECK(curses.screen == nullptr, "two terminals at a time");
  TerminalModes modes;
  modes.input_fd = input_fd;
  modes.output_fd = output_fd;
  constexpr const char* kHint = "run it with its output in a pipe or with -o FILE to get a plain report";
  if (::tcgetattr(input_fd, &modes.as_found) != 0) {
    return fail(ExitCode::kFile, fmt::format("read the terminal's settings: {}", std::strerror(errno)), kHint);
  }
  catch_terminal_signals();
  if (!start_curses(input_fd, output_fd)) {
    unguard_terminal();
    stop_curses();
    return fail(ExitCode::kFile, "use the terminal for the live screen: ncurses does not support it", kHint);
  }
  if (color) start_colors();
  ::tcgetattr(input_fd, &modes.as_used);
  // A read with nothing typed returns at once: ncurses 6.4 waits for the next byte, nodelay() or not, after a mouse
  // event that was not asked for (a release).
  modes.as_used.c_cc[VMIN] = 0;
  modes.as_used.c_cc[VTIME] = 0;
  ::tcsetattr(input_fd, TCSANOW, &modes.as_used);
  modes.enter = terminal_capability("smcup") + terminal_capability("civis") + terminal_capability("smkx") + mouse_on();
  modes.leave = mouse_off() + terminal_capability("sgr0") + terminal_capability("op") + terminal_capability("rmkx") +
                terminal_capability("cnorm") + terminal_capability("rmcup");
  guard_terminal(std::move(modes));
  Terminal terminal(input_fd, color);
  terminal.toggle_mouse();
  ::refresh();
  return terminal;
}

Terminal::Terminal(Terminal&& other) noexcept
    : input_fd_(std::exchange(other.input_fd_, -1)), color_(other.color_), mouse_(other.mouse_) {}

Terminal::~Terminal() {
  if (input_fd_ < 0) return;
  // Not by endwin(): the terminal is restored in only one way, and only once.
  restore_terminal();
  unguard_terminal();
  stop_curses();
}

TerminalSize Terminal::size() const {
  winsize size = {};
  if (::ioctl(input_fd_, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) return {};
  return {.rows = size.ws_row, .columns = size.ws_col};
}

std::optional<ScreenEvent> Terminal::next_event() {
  wint_t character = 0;
  switch (::wget_wch(curses.keys, &character)) {
    case OK:
      return character_event(character);
    case KEY_CODE_YES:
      return key_event(character);
    default:
      return std::nullopt;
  }
}

void Terminal::draw(const ScreenLines& lines) {
  const TerminalSize wanted = size();
  if (static_cast<int>(wanted.rows) != LINES || static_cast<int>(wanted.columns) != COLS) {
    ::resizeterm(static_cast<int>(wanted.rows), static_cast<int>(wanted.columns));
  }
  if (was_screen_lost()) ::clearok(curscr, TRUE);
  ::erase();
  for (std::size_t row = 0; row < lines.size() && row < wanted.rows; ++row) {
    draw_line(static_cast<int>(row), lines[row], wanted.columns, color_);
  }
  ::refresh();
}

void Terminal::toggle_mouse() {
  mouse_ = !mouse_;
  ::mousemask(mouse_ ? kMouseEvents : 0, nullptr);
  ::mouseinterval(0);
}

}  // namespace hawk
