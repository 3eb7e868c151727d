#pragma once

#include <cstddef>

#include "userspace/report/frame_list.h"
#include "userspace/report/symbolized_locations.h"
#include "userspace/tables/selection.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// How the report for people is written.
struct TextOptions {
  Selection selection;
  RoleOfFunction role_of;    ///< what is not the program\'s is folded; empty: nothing
  bool full_stacks = false;  ///< every frame, with its address, its module and the whole path of its file
  bool raw_bytes = false;    ///< exact bytes instead of KiB, MiB, ...
  bool color = false;
  std::size_t width = 0;  ///< columns of the terminal, longer names are shortened in the middle; 0: any length
  std::size_t rows = 0;   ///< of the terminal: what is longer ends with its summary, again; 0: nothing is repeated
  std::size_t max_frames = 24;         ///< lines of one stack, unless full_stacks; 0: any number
  const Snapshot* previous = nullptr;  ///< of the report before: changes and rates are since then; nullptr: none was
  LocationCountObserver before_symbolizing;  ///< may be empty
};

}  // namespace hawk
