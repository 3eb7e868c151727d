#pragma once

#include <nlohmann/json.hpp>

#include "userspace/tables/snapshot.h"

namespace hawk {

/// A traced process as the JSON report has it: what it is, its allocators and its threads.
nlohmann::ordered_json target_json(const TargetInfo& target);

}  // namespace hawk
