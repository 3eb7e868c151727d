#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "symbolizer/symbolizer.h"
#include "userspace/report/frame_list.h"
#include "userspace/screen/columns.h"
#include "userspace/screen/moment.h"
#include "userspace/screen/screen_line.h"
#include "userspace/screen/stack_filter.h"
#include "userspace/screen/stack_order.h"
#include "userspace/screen/view_state.h"
#include "userspace/tables/selection.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// How the view begins, and what keys do not change.
struct ViewOptions {
  Selection selection;            ///< `top` limits the list; 0: it does not
  RoleOfFunction role_of;         ///< what is folded; empty: nothing
  std::uint64_t interval_ns = 0;  ///< time between two refreshes, shown in the header; 0: not shown
  bool raw_bytes = false;
};

/// The live screen as lines of text, without a terminal: shows the last snapshot as selected by the events.
class View {
 public:
  explicit View(ViewOptions options);

  /// The stacks of what was shown before the last update(), which the next one makes no use of.
  SpareStacks take_spare();
  /// Shows `now`; changes and rates are those since what was shown before.
  void update(Snapshot now);
  /// Follows what the user did.
  Reaction take(const ScreenEvent& event);
  /// At most `rows` lines, to be cut to `columns`; a shorter screen ends in empty rows. None without rows, columns or a
  /// snapshot. Only the stacks on the screen are symbolized, unless all are sorted by name or filtered.
  ScreenLines render(std::size_t rows, std::size_t columns, Symbolizer& symbolizer);
  /// Whether the display is paused: no new state needs to be made.
  bool paused() const { return state_.paused; }

 private:
  void put_body(ScreenLines& lines, std::size_t rows, std::size_t columns, const Moment& moment,
                Symbolizer& symbolizer);
  void put_list(ScreenLines& lines, std::size_t rows, std::size_t columns, const Moment& moment,
                Symbolizer& symbolizer);
  void put_rows(ScreenLines& lines, std::size_t columns, bool with_titles, const Moment& moment,
                Symbolizer& symbolizer);
  void put_page(ScreenLines& lines, std::size_t rows, const ScreenLines& page);
  void put_titles(ScreenLines& lines, const NumberColumns& columns);
  void scroll_to_cursor();
  const StackRecord* selected_stack(const Snapshot& now) const;

  ViewOptions options_;
  ViewState state_;
  ScreenLayout layout_;
  StackFilter filter_{""};
  StackOrder list_;
  std::optional<Snapshot> now_;
  std::optional<Snapshot> previous_;
};

}  // namespace hawk
