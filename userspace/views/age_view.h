#pragma once

#include <string>

#include "userspace/report/text_page.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// What is left of `snapshot`, which knows the ages of its blocks, when only the live blocks count that are in
/// `window`, as if each stack had allocated these and freed none. Stacks without such blocks are left out.
Snapshot narrowed_to_ages(const Snapshot& snapshot, const AgeWindow& window);

/// "at least 10 s old", "of generation 2": the blocks that are in it.
std::string age_window_text(const AgeWindow& window);

/// "only live blocks at least 10 s old": what a snapshot is of, if not of all at its end; "" otherwise.
std::string moment_text(const Snapshot& snapshot);

/// Says what a snapshot is of, if not of all at its end.
void put_age_note(TextPage& page, const Snapshot& snapshot);

}  // namespace hawk
