#pragma once

#include <nlohmann/json.hpp>

#include <optional>

#include "userspace/tables/snapshot.h"

namespace hawk {

/// Values as the JSON report has them; what is not known is null.
nlohmann::ordered_json counters_json(const Counters& counters);
nlohmann::ordered_json memory_json(const std::optional<ProcessMemory>& memory);
nlohmann::ordered_json losses_json(const Losses& losses);
nlohmann::ordered_json children_json(const Losses& losses, const UntracedChildren& children);

/// Puts what was traced: "target", the process that all numbers are of: what it is, its allocators and its threads. Of
/// several processes that is null, so that nothing takes the sum for the numbers of one, and "targets" has each of
/// them with its own numbers.
void put_json_targets(nlohmann::ordered_json& json, const Snapshot& snapshot);

}  // namespace hawk
