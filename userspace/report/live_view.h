#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "symbolizer/symbolizer.h"
#include "userspace/report/frame_list.h"
#include "userspace/tables/selection.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// What the view on a terminal looks like.
struct LiveOptions {
  std::size_t rows = 24;
  std::size_t columns = 80;
  Selection selection;            ///< `top` limits the list further than the screen does
  RoleOfFunction role_of;         ///< what is not the program\'s is folded; empty: nothing
  std::uint64_t interval_ns = 0;  ///< time between two refreshes, shown in the header; 0: not shown
  bool paused = false;
  bool raw_bytes = false;
  bool color = false;
  bool help = false;  ///< explain keys and columns instead of listing stacks
};

/// One full screen: exactly `rows` lines joined by "\n", none wider than `columns`, not padded, no escape sequences but
/// SGR colours when `color` is set. "" for a terminal without rows or columns. Changes and rates are those since
/// `previous` (nullptr: not shown); they are left out too when the target has replaced its program in between. Only the
/// stacks that fit on the screen are symbolized.
std::string render_live(const Snapshot& now, const Snapshot* previous, Symbolizer& symbolizer,
                        const LiveOptions& options);

}  // namespace hawk
