#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "userspace/daemon/directory_entries.h"

namespace hawk {

/// Which recordings of a target are to be removed: those older than `keep_age`, and the oldest until all that remain
/// have `keep_bytes` at most. `current`, the name of the one that is written, is kept. Other files are not ours.
std::vector<std::string> recordings_to_remove(std::vector<DirectoryEntry> files, const std::string& current,
                                              std::uint64_t keep_bytes, std::chrono::nanoseconds keep_age,
                                              std::int64_t now_unix_ns);

}  // namespace hawk
