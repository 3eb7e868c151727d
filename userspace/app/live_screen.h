#pragma once

#include <cstdint>
#include <optional>

#include "symbolizer/symbolizer.h"
#include "userspace/app/options.h"
#include "userspace/app/terminal.h"
#include "userspace/report/live_view.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// The report that refreshes in place on a terminal, and the keys that steer it.
class LiveScreen {
 public:
  static Result<LiveScreen> make(const Options& options);

  /// Shows `now`; what was shown before is what changes are counted from. Not to be called while paused().
  void show(Snapshot now, Symbolizer& symbolizer);
  /// Shows the same state again: after a key, or when the terminal has another size.
  void redraw(Symbolizer& symbolizer);
  /// Takes the keys typed. Returns whether one of them was `q`.
  bool take_keys(Symbolizer& symbolizer);
  /// To poll for reading.
  int input_fd() const { return terminal_.input_fd(); }
  /// Whether the user wants to look at one state: another need not even be made.
  bool paused() const { return view_.paused; }

 private:
  LiveScreen(Terminal terminal, LiveOptions view) : terminal_(std::move(terminal)), view_(std::move(view)) {}
  bool take_key(char key);

  Terminal terminal_;
  LiveOptions view_;
  std::optional<Snapshot> now_;
  std::optional<Snapshot> previous_;
};

/// Whether the live screen is what the user wants: a report in text to a terminal, with no end set.
bool wants_live_screen(const Options& options, bool output_is_terminal);

}  // namespace hawk
