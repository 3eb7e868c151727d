#pragma once

#include <cstddef>

namespace hawk {

/// Raises this process's limit of open files (RLIMIT_NOFILE) to `wanted`, or as far as it may, and returns what it is
/// then. Programs that are started later inherit it.
std::size_t raise_open_file_limit(std::size_t wanted);

}  // namespace hawk
