#include "userspace/commands/live_screen_choice.h"

#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "userspace/commands/folded_functions.h"

namespace hawk {

bool wants_live_screen(const Options& options, bool output_is_terminal) {
  // A command owns the terminal itself, and a trace with a set end is a report to wait for.
  return options.report.format->is_for_people && output_is_terminal && options.trace.command.empty() &&
         !options.duration && !options.wants_several() &&
         is_interactive(STDIN_FILENO, STDOUT_FILENO, std::getenv("TERM"));
}

Result<LiveScreen> make_live_screen(const Options& options) {
  ViewOptions view;
  view.selection = options.report.selection();
  if (!options.report.top) view.selection.top = 0;  // the list scrolls
  const std::optional<CallPattern>& hide = options.report.filter.hide;
  view.role_of = folded_functions(hide ? std::optional<std::string>(hide->text()) : std::nullopt);
  view.interval_ns = static_cast<std::uint64_t>(options.trace.interval.count());
  view.raw_bytes = options.report.raw_bytes;
  return LiveScreen::make(std::move(view),
                          use_color(options.report.color, true, std::getenv("NO_COLOR"), std::getenv("TERM")));
}

}  // namespace hawk
