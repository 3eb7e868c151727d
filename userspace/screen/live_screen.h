#pragma once

#include <optional>
#include <vector>

#include "symbolizer/symbolizer.h"
#include "userspace/base/result.h"
#include "userspace/screen/terminal.h"
#include "userspace/screen/view.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// The report that refreshes in place on a terminal, and that can be asked by keys and mouse.
class LiveScreen {
 public:
  /// Takes the terminal at stdin and stdout.
  static Result<LiveScreen> make(ViewOptions options, bool color);

  /// To make what show() is given next.
  SpareStacks take_spare() { return view_.take_spare(); }
  /// Shows `now`; what was shown before is what changes are counted from. Not to be called while paused().
  void show(Snapshot now, Symbolizer& symbolizer);
  /// Shows the same state again: after a key, or when the terminal has another size.
  void redraw(Symbolizer& symbolizer);
  /// What the user asks for of others than the screen.
  struct Requests {
    bool quits = false;
    std::size_t marks = 0;  ///< generations of blocks to begin
  };
  /// Handles the user's input.
  Requests take_events(Symbolizer& symbolizer);
  /// To poll for reading.
  int input_fd() const { return terminal_.input_fd(); }
  /// Whether the display is paused: no new state needs to be made.
  bool paused() const { return view_.paused(); }

 private:
  LiveScreen(Terminal terminal, View view) : terminal_(std::move(terminal)), view_(std::move(view)) {}

  Terminal terminal_;
  View view_;
};

}  // namespace hawk
