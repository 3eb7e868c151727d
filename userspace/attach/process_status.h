#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "userspace/tables/snapshot.h"

namespace hawk {

/// The numbers in the line of a /proc/PID/status that begins with `key`; none: there is no such line.
std::vector<std::uint64_t> numbers_in_status(std::string_view status, std::string_view key);

/// What the kernel says that a process takes, by its /proc/PID/status; nullopt: it has no memory any more.
std::optional<ProcessMemory> memory_in_status(std::string_view status);

}  // namespace hawk
