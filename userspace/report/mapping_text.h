#pragma once

#include <string>

#include "symbolizer/symbolizer.h"
#include "userspace/report/text_page.h"
#include "userspace/tables/mapping_sums.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// "mapped by the program", "mapped by the allocator", "older than the trace".
std::string_view region_origin_text(RegionOrigin origin);

/// The section of a report about what is mapped: by kind and origin, and the stacks that have mapped most of what is
/// live, as many as the selection says. Nothing where mappings are not followed.
void put_mappings(TextPage& page, const Snapshot& snapshot, Symbolizer& symbolizer);

/// A line for the screen: "64.0 MiB in 3 regions by the program, 1.00 MiB by the allocator, 30.0 MiB older". Empty
/// where mappings are not followed.
std::string mappings_summary(const Snapshot& snapshot, NumberStyle style);

}  // namespace hawk
