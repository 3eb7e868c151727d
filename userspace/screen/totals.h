#pragma once

#include <cstddef>
#include <cstdint>

#include "userspace/report/quantity.h"
#include "userspace/screen/moment.h"
#include "userspace/screen/screen_line.h"

namespace hawk {

/// The first line: which process or how many, for how long, whether its numbers are exact; what else fits into
/// `columns`. `interval_ns`: time between two refreshes, 0: not shown.
StyledLine header_line(const Moment& moment, Quantity quantity, std::uint64_t interval_ns, bool paused,
                       std::size_t columns);

/// What the whole program, or all of them, has live, has allocated and has freed, with rates.
ScreenLines totals_lines(const Moment& moment);

/// "  196.06 KiB/s in 251 blocks/s": how fast `quantity` moved from `before` to `now`; "" where no time has passed.
std::string rates_text(const Moment& moment, const Counters& before, const Counters& now, Quantity quantity);

}  // namespace hawk
