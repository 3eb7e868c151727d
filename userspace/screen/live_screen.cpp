#include "userspace/screen/live_screen.h"

#include <unistd.h>

#include <utility>

namespace hawk {

Result<LiveScreen> LiveScreen::make(ViewOptions options, bool color) {
  return LiveScreen(HAWK_TRY(Terminal::make(STDIN_FILENO, STDOUT_FILENO, color)), View(std::move(options)));
}

void LiveScreen::show(Snapshot now, Symbolizer& symbolizer) {
  view_.update(std::move(now));
  redraw(symbolizer);
}

void LiveScreen::redraw(Symbolizer& symbolizer) {
  const TerminalSize size = terminal_.size();
  terminal_.draw(view_.render(size.rows, size.columns, symbolizer));
}

LiveScreen::Requests LiveScreen::take_events(Symbolizer& symbolizer) {
  Requests requests;
  while (const std::optional<ScreenEvent> event = terminal_.next_event()) {
    const Reaction reaction = view_.take(*event);
    if (reaction == Reaction::kToggleMouse) terminal_.toggle_mouse();
    requests.quits = reaction == Reaction::kQuit || requests.quits;
    requests.marks += reaction == Reaction::kMark ? 1 : 0;
    // Keys that arrive together act on what each of them shows: Down, Down, Enter.
    redraw(symbolizer);
  }
  return requests;
}

}  // namespace hawk
