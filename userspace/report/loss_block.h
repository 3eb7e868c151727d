#pragma once

#include <vector>

#include "userspace/report/styled_line.h"
#include "userspace/report/units.h"
#include "userspace/tables/losses.h"

namespace hawk {

/// The block that closes every report: that nothing was lost, in one line; or each cause of loss that occurred with its
/// count, its sentence and the remedy if there is one. `exact`: of the report, which may not be although nothing was
/// lost.
std::vector<StyledLine> render_losses(const Losses& losses, bool exact, NumberStyle style, std::size_t max_columns);

}  // namespace hawk
