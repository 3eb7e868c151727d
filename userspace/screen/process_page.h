#pragma once

#include "userspace/screen/moment.h"
#include "userspace/screen/screen_line.h"
#include "userspace/screen/sort.h"

namespace hawk {

/// The traced processes, a line each: what they hold, and what their numbers are worth. Those come first that have most
/// of what the list of stacks is sorted by.
ScreenLines process_page(const Moment& moment, ScreenSort sort);

}  // namespace hawk
