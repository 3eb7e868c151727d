#pragma once

#include <cstddef>
#include <optional>

#include "userspace/base/result.h"
#include "userspace/screen/event.h"
#include "userspace/screen/screen_line.h"

namespace hawk {

struct TerminalSize {
  std::size_t rows = 24;
  std::size_t columns = 80;
  bool operator==(const TerminalSize&) const = default;
};

/// Whether a screen can be drawn on `output_fd` and keys be read from `input_fd`: both are terminals, we are in the
/// foreground (a background job that touches the terminal is stopped), and `term`, the value of TERM (nullptr when not
/// set), names a terminal that the system knows and whose cursor can be moved.
bool is_interactive(int input_fd, int output_fd, const char* term);

/// The terminal as an interactive screen, by ncurses: the alternate screen without a cursor, keys and mouse without
/// echo or Enter; Ctrl-C and Ctrl-Z still make signals. At most one exists at a time.
///
/// What the user had is restored by the destructor, when a signal or abort() ends us, and while Ctrl-Z has us stopped.
class Terminal {
 public:
  /// The descriptors must be those of a terminal (is_interactive) and stay open for as long as this lives. `color`:
  /// whether colours may be used.
  static Result<Terminal> make(int input_fd, int output_fd, bool color);

  Terminal(Terminal&& other) noexcept;
  Terminal& operator=(Terminal&&) = delete;
  ~Terminal();

  TerminalSize size() const;
  /// To poll for reading. Once poll says POLLHUP there is no terminal any more: stop polling it.
  int input_fd() const { return input_fd_; }
  /// The next thing the user did; nullopt when there is none. Never waits, but for the rest of a key that sends several
  /// bytes (25 ms).
  std::optional<ScreenEvent> next_event();
  /// Shows `lines` from the top, in the place of what was shown before. Lines and columns that do not fit are cut off.
  /// Errors are ignored: a terminal that went away is announced by a signal.
  void draw(const ScreenLines& lines);
  /// Whether clicks are events; else the terminal's own mouse, which selects text, works. On at first.
  void toggle_mouse();

 private:
  Terminal(int input_fd, bool color) : input_fd_(input_fd), color_(color) {}

  int input_fd_;  ///< -1 when moved from
  bool color_;
  bool mouse_ = false;
};

}  // namespace hawk
