#include "userspace/app/live_screen.h"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <utility>

#include "userspace/app/folded_functions.h"

namespace hawk {
namespace {

SortKey next_sort_key(SortKey key) {
  constexpr std::array<SortKey, 5> kOrder = {SortKey::kLive, SortKey::kLiveCount, SortKey::kAllocated,
                                             SortKey::kAllocatedCount, SortKey::kFreedCount};
  for (std::size_t i = 0; i < kOrder.size(); ++i) {
    if (kOrder[i] == key) return kOrder[(i + 1) % kOrder.size()];
  }
  return SortKey::kLive;
}

}  // namespace

Result<LiveScreen> LiveScreen::make(const Options& options) {
  LiveOptions view;
  view.selection = options.selection();
  if (!options.top) view.selection.top = 0;  // as many as the screen holds
  view.role_of = folded_functions(options.hide);
  view.interval_ns = static_cast<std::uint64_t>(options.interval.count());
  view.raw_bytes = options.raw_bytes;
  view.color = use_color(options.color, true, std::getenv("NO_COLOR"), std::getenv("TERM"));
  return LiveScreen(HAWK_TRY(Terminal::make(STDIN_FILENO, STDOUT_FILENO)), std::move(view));
}

void LiveScreen::show(Snapshot now, Symbolizer& symbolizer) {
  previous_ = std::move(now_);
  now_ = std::move(now);
  redraw(symbolizer);
}

void LiveScreen::redraw(Symbolizer& symbolizer) {
  if (!now_) return;
  const TerminalSize size = terminal_.size();
  view_.rows = size.rows;
  view_.columns = size.columns;
  terminal_.draw(render_live(*now_, previous_ ? &*previous_ : nullptr, symbolizer, view_));
}

bool LiveScreen::take_key(char key) {
  switch (key) {
    case 'q':
      return true;
    case 's':
      view_.selection.sort = next_sort_key(view_.selection.sort);
      break;
    case 'p':
    case ' ':
      view_.paused = !view_.paused;
      break;
    case 'b':
      view_.raw_bytes = !view_.raw_bytes;
      break;
    case '?':
    case 'h':
      view_.help = !view_.help;
      break;
    default:
      break;
  }
  return false;
}

bool LiveScreen::take_keys(Symbolizer& symbolizer) {
  bool quit = false;
  while (const std::optional<char> key = terminal_.read_key()) quit = take_key(*key) || quit;
  redraw(symbolizer);
  return quit;
}

bool wants_live_screen(const Options& options, bool output_is_terminal) {
  // A command owns the terminal itself, and a trace with a set end is a report to wait for.
  return options.format == FormatChoice::kText && output_is_terminal && options.command.empty() && !options.duration &&
         is_interactive(STDIN_FILENO, STDOUT_FILENO, std::getenv("TERM"));
}

}  // namespace hawk
