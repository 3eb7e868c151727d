#pragma once

#include <string>

namespace hawk {

/// A string of the current terminal (terminfo(5)), "smcup" for one, without its padding ("$<5>"), which no terminal of
/// today needs; "" where it has none.
std::string terminal_capability(const char* name);

/// Whether the system knows the terminal `term`, and the cursor of it can be moved. Not while ncurses is in use.
bool can_move_cursor(const char* term, int output_fd);

}  // namespace hawk
