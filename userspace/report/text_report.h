#pragma once

#include <cstddef>
#include <string>

#include "symbolizer/symbolizer.h"
#include "userspace/report/frame_list.h"
#include "userspace/report/symbolized_places.h"
#include "userspace/report/text_sink.h"
#include "userspace/tables/selection.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// How the report for people is written.
struct TextOptions {
  Selection selection;
  PlumbingPredicate is_plumbing;  ///< what is folded; empty: nothing
  bool full_stacks = false;       ///< every frame, with its address, its module and the whole path of its file
  bool raw_bytes = false;         ///< exact bytes instead of KiB, MiB, ...
  bool color = false;
  std::size_t width = 0;        ///< columns of the terminal, longer names are shortened in the middle; 0: any length
  std::size_t max_frames = 24;  ///< lines of one stack, unless full_stacks; 0: any number
  PlaceCountObserver before_symbolizing;  ///< empty: nobody wants to know
};

/// Writes the report for people, piece by piece: what was traced and whether the numbers are exact, totals, the top
/// stacks, modules without symbols, losses. Ends with a newline. Only the stacks that are shown are symbolized, all of
/// them before the first piece.
void write_text(const Snapshot& snapshot, Symbolizer& symbolizer, const TextOptions& options, const TextSink& sink);

/// The same as one string.
std::string render_text(const Snapshot& snapshot, Symbolizer& symbolizer, const TextOptions& options);

}  // namespace hawk
