#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstddef>

namespace hawk {

/// What a JSON report of several processes has of the one at `place`, as a report of that one alone.
nlohmann::json report_of_target(const nlohmann::json& all, std::size_t place);

}  // namespace hawk
