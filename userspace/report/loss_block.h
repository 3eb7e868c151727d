#pragma once

#include <vector>

#include "userspace/report/styled_line.h"
#include "userspace/report/units.h"
#include "userspace/tables/losses.h"

namespace hawk {

/// The block that closes every report: each cause of loss with its count. Causes that occurred get a line, their
/// sentence and the remedy if there is one; the zeros are listed too, because silence could mean anything.
std::vector<StyledLine> render_losses(const Losses& losses, NumberStyle style, std::size_t max_columns);

}  // namespace hawk
