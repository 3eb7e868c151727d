#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "userspace/base/result.h"

namespace hawk {

struct TerminalSize {
  std::size_t rows = 24;
  std::size_t columns = 80;
  bool operator==(const TerminalSize&) const = default;
};

/// Whether a screen can be drawn on `output_fd` and keys be read from `input_fd`: both are terminals, we are in the
/// foreground (a background job that touches the terminal is stopped), and `term`, the value of TERM (nullptr when not
/// set), is neither empty nor "dumb".
bool is_interactive(int input_fd, int output_fd, const char* term);

/// The terminal as an interactive screen: the alternate screen without a cursor, keys without echo or Enter; Ctrl-C and
/// Ctrl-Z still make signals. At most one exists at a time.
///
/// What the user had is restored by the destructor, when a signal or abort() ends us, and while Ctrl-Z has us stopped.
class Terminal {
 public:
  /// The descriptors must be those of a terminal (is_interactive) and stay open for as long as this lives.
  static Result<Terminal> make(int input_fd, int output_fd);

  Terminal(Terminal&& other) noexcept;
  Terminal& operator=(Terminal&&) = delete;
  ~Terminal();

  TerminalSize size() const;
  /// To poll for reading. Once poll says POLLHUP there is no terminal any more: stop polling it.
  int input_fd() const { return input_fd_; }
  /// The next key that was typed; nullopt when there is none. Never waits. Keys that send more than one byte (arrows,
  /// Alt, letters outside ASCII) are swallowed.
  std::optional<char> read_key();
  /// Shows `screen`, lines separated by '\n', in the place of what was shown before. Lines and columns that do not fit
  /// are cut off. Errors are ignored: a terminal that went away is told by a signal.
  void draw(std::string_view screen);

 private:
  Terminal(int input_fd, int output_fd) : input_fd_(input_fd), output_fd_(output_fd) {}

  int input_fd_;
  int output_fd_;      ///< -1 when moved from
  std::string typed_;  ///< bytes read and not yet given out as keys
};

/// Gives the terminal back as the user had it, if a Terminal has it now. For ways out that run no destructors (_exit).
/// Safe in a signal handler; to call it more than once does no harm.
void restore_terminal();

/// The bytes that paint `screen` from the top left corner on without clearing first, which would flicker.
std::string compose_screen(std::string_view screen, TerminalSize size);
/// `line` cut to `columns` characters. Escape sequences (colours) take no room and are all kept, so that a colour
/// that the line ends is ended. Each UTF-8 character counts as one column.
std::string cut_to_columns(std::string_view line, std::size_t columns);
/// Takes the next key off the front of `typed`, with the escape sequences before it.
std::optional<char> take_key(std::string& typed);

}  // namespace hawk
