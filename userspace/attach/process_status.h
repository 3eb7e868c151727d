#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "userspace/tables/snapshot.h"

namespace hawk {

/// The numbers in the line of a /proc/PID/status that begins with `key`; none: there is no such line.
std::vector<std::uint64_t> numbers_in_status(std::string_view status, std::string_view key);

/// The memory of a process according to its /proc/PID/status; nullopt: it has none any more.
std::optional<ProcessMemory> memory_in_status(std::string_view status);

}  // namespace hawk
