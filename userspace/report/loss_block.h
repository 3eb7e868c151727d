#pragma once

#include <string_view>
#include <vector>

#include "userspace/report/styled_line.h"
#include "userspace/report/units.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// The block that closes every report: one line if nothing was missed; otherwise, for each promise that is not kept,
/// each cause that occurred with its count, its sentence and the remedy if there is one.
std::vector<StyledLine> render_losses(const Snapshot& snapshot, NumberStyle style, std::size_t max_columns);

}  // namespace hawk
