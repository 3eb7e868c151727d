#pragma once

#include <span>
#include <string>

#include "userspace/serving/served_targets.h"

namespace hawk {

/// /targets: schema "hawktrace.targets/1"; integers are bytes, counts or nanoseconds, what is not known is null.
std::string targets_json(std::span<const ServedTarget> targets);

}  // namespace hawk
