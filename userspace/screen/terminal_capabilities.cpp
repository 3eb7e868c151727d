// A file of its own: term.h makes macros of `lines`, `columns` and some hundred other words.
#include "userspace/screen/terminal_capabilities.h"

#define NCURSES_NOMACROS 1
#include <curses.h>
#include <term.h>

#include <string_view>

namespace hawk {

std::string terminal_capability(const char* name) {
  const char* const value = ::tigetstr(name);
  if (value == nullptr || value == reinterpret_cast<const char*>(-1)) return {};
  std::string bytes;
  for (std::string_view left = value; !left.empty();) {
    const std::size_t end = left.starts_with("$<") ? left.find('>') : std::string_view::npos;
    if (end != std::string_view::npos) {
      left.remove_prefix(end + 1);
    } else {
      bytes += left.front();
      left.remove_prefix(1);
    }
  }
  return bytes;
}

bool can_move_cursor(const char* term, int output_fd) {
  int error = 0;
  if (::setupterm(term, output_fd, &error) != OK) return false;
  const bool can_move = !terminal_capability("cup").empty();
  ::del_curterm(cur_term);
  return can_move;
}

}  // namespace hawk
