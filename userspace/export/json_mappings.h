#pragma once

#include <string>

#include "symbolizer/symbolizer.h"
#include "userspace/report/call_table.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// What is mapped, by kind and by stack; `snapshot` must have it. The parameters after it: as of CallTable.
std::string mappings_json(const Snapshot& snapshot, Symbolizer& symbolizer, const RoleOfFunction& role_of,
                          const LocationCountObserver& observer);

}  // namespace hawk
