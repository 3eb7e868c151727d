#include "userspace/commands/progress_line.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "userspace/base/write_all.h"

namespace hawk {
namespace {

constexpr std::chrono::milliseconds kRedraw{100};     // of a line on a terminal
constexpr std::chrono::milliseconds kNextLine{5000};  // in a log each line stays

}  // namespace

ProgressOutlet progress_on_stderr(Verbosity verbosity) {
  ProgressOutlet outlet;
  if (verbosity == Verbosity::kQuiet) return outlet;
  outlet.is_terminal = ::isatty(STDERR_FILENO) == 1;
  winsize size = {};
  if (outlet.is_terminal && ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0) outlet.columns = size.ws_col;
  outlet.now = [] { return std::chrono::steady_clock::now(); };
  outlet.put = [](std::string_view text) { write_all(STDERR_FILENO, text); };
  return outlet;
}

void ProgressLine::begin(std::chrono::milliseconds unshown) {
  if (!outlet_.put) return;
  erase();
  next_ = outlet_.now() + unshown;
}

void ProgressLine::show(std::string text) {
  if (!outlet_.put) return;
  if (!outlet_.is_terminal) {
    outlet_.put(text + "\n");
    next_ = outlet_.now() + kNextLine;
    return;
  }
  // A line that fills the last column makes some terminals wrap, and a wrapped line cannot be rewritten.
  if (outlet_.columns > 0 && text.size() >= outlet_.columns) text.resize(outlet_.columns - 1);
  text.resize(std::max(text.size(), shown_columns_), ' ');
  shown_columns_ = text.size();
  outlet_.put("\r" + text);
  next_ = outlet_.now() + kRedraw;
}

void ProgressLine::erase() {
  if (shown_columns_ == 0) return;
  // Spaces, because a terminal may know no escape sequences.
  outlet_.put("\r" + std::string(shown_columns_, ' ') + "\r");
  shown_columns_ = 0;
}

}  // namespace hawk
