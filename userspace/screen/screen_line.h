#pragma once

#include <vector>

#include "userspace/report/styled_line.h"

namespace hawk {

/// One row of the terminal.
struct ScreenLine {
  StyledLine text;
  bool selected = false;  ///< where the cursor is
};

using ScreenLines = std::vector<ScreenLine>;

}  // namespace hawk
