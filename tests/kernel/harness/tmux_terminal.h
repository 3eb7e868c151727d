#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/kernel/harness/child_process.h"

namespace hawk {

/// A real terminal, tmux's, with a command in it. It is driven through tmux's control mode, which reports when
/// something was drawn: no test waits for a fixed time.
class TmuxTerminal {
 public:
  /// Runs `command` on a terminal of `columns` and `rows`, with `locale` as LC_ALL. When it ends, what it has drawn
  /// stays.
  TmuxTerminal(const std::vector<std::string>& command, std::size_t columns, std::size_t rows,
               const std::string& locale = "C.UTF-8");
  /// Ends the command and the terminal.
  ~TmuxTerminal();

  /// What a user sees: a line a row, without the spaces at the ends.
  std::vector<std::string> screen();
  /// Waits until `is_so` holds for the screen, and returns it. Throws when nothing more is drawn for kPatience.
  std::vector<std::string> wait_until(const std::function<bool(const std::vector<std::string>&)>& is_so);
  /// Waits until some line contains `part`.
  std::vector<std::string> wait_for(std::string_view part);
  /// Waits until each of `parts` is on the screen: a screen may be seen half drawn.
  std::vector<std::string> wait_for_all(const std::vector<std::string>& parts);
  /// Types keys by tmux's names: "Down", "Enter", "q".
  void press(const std::string& key);
  /// Types text as it stands.
  void type(const std::string& text);
  void resize(std::size_t columns, std::size_t rows);

 private:
  /// Sends a command to tmux and returns its answer.
  std::vector<std::string> ask(const std::string& command);

  std::string socket_;
  std::unique_ptr<ChildProcess> tmux_;
};

/// Whether some line of `screen` contains `part`.
bool shows(const std::vector<std::string>& screen, std::string_view part);

/// The lines, for the message of a test that fails.
std::string as_text(const std::vector<std::string>& screen);

}  // namespace hawk
