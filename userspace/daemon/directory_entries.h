#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hawk {

/// A regular file in a directory.
struct DirectoryEntry {
  std::string name;
  std::uint64_t size_bytes = 0;
  std::int64_t modified_ns = 0;
};

/// All regular files in a directory, by their names. Empty: there are none, or it cannot be read. `path` is ours or the
/// administrator's.
std::vector<DirectoryEntry> entries_of(const std::string& path);

}  // namespace hawk
