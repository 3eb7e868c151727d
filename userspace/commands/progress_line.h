#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "userspace/base/log.h"

namespace hawk {

/// Where progress is shown.
struct ProgressOutlet {
  bool is_terminal = false;  ///< one line is rewritten in place; otherwise lines follow each other, rarely
  std::size_t columns = 0;   ///< of the terminal: a longer line is cut; 0: not known
  std::function<std::chrono::steady_clock::time_point()> now;
  std::function<void(std::string_view)> put;  ///< may be empty
};

/// That of stderr; nothing is shown with --quiet.
ProgressOutlet progress_on_stderr(Verbosity verbosity);

/// How far work has come, on a line that is erased from a terminal at its end.
class ProgressLine {
 public:
  explicit ProgressLine(ProgressOutlet outlet) : outlet_(std::move(outlet)) {}
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() { erase(); }

  bool is_on_terminal() const { return outlet_.put && outlet_.is_terminal; }
  /// Work that takes less needs no explanation.
  static constexpr std::chrono::milliseconds kUnshown{1000};

  /// Work begins. Nothing is shown of what takes less than `unshown`.
  void begin(std::chrono::milliseconds unshown = kUnshown);
  /// Whether it is time for show().
  bool is_due() const { return outlet_.put && outlet_.now() >= next_; }
  /// In place of what was shown before.
  void show(std::string text);
  /// The work is done.
  void erase();

 private:
  ProgressOutlet outlet_;
  std::chrono::steady_clock::time_point next_ = {};  ///< when to show more
  std::size_t shown_columns_ = 0;                    ///< of the terminal's line that are ours
};

}  // namespace hawk
