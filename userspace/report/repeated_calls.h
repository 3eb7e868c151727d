#pragma once

#include <vector>

#include "userspace/report/frame_list.h"

namespace hawk {

/// Functions that call each other in turn, a, b, a, b, a, b, stand once in `shown`, with a line that says how often.
/// Only where that saves lines.
void collapse_repeated_calls(std::vector<ShownFrame>& shown);

}  // namespace hawk
