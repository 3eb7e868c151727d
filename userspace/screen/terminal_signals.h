#pragma once

#include <termios.h>

#include <string>

namespace hawk {

/// How a terminal is taken and given back without ncurses, which may not be called in a signal handler.
struct TerminalModes {
  int input_fd = -1;
  int output_fd = -1;
  termios as_found = {};
  termios as_used = {};
  std::string enter;  ///< bytes that begin the interactive screen
  std::string leave;  ///< and that end it
};

/// Takes the signals. To be called before ncurses begins, which would take those without a handler, and end us by
/// exit(3) on them. A signal that was ignored (nohup) stays so. One terminal at a time.
void catch_terminal_signals();
/// From here on the terminal is given back when a signal or abort() ends us, and while Ctrl-Z has us stopped.
void guard_terminal(TerminalModes modes);
/// The signals do what they did before. The terminal is left as it is.
void unguard_terminal();
/// Whether the screen has been left and taken again since the last call: nothing that was drawn is there any more.
bool was_screen_lost();

/// Gives the terminal back as the user had it, if a Terminal has it now. For ways out that run no destructors (_exit).
/// Safe in a signal handler; to call it more than once does no harm.
void restore_terminal();

}  // namespace hawk
