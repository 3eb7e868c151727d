#pragma once

#include <functional>
#include <optional>
#include <string>

#include "symbolizer/elf_file.h"

namespace hawk {

/// Where a file lies: its path as seen below `root`.
struct RootedPath {
  std::string root;  ///< "" for our own file system, "/proc/PID/root" for a target's
  std::string path;  ///< absolute
};

/// How debug files are opened: by their path below a root, as open_regular_file_below(). For the whole process; an
/// empty one stands for that function itself. A process that may open nothing has another one do it.
void open_debug_files_with(std::function<UniqueFd(const std::string& root, const std::string& path)> opener);

/// A file with the path it was found at, which relative links in it start from.
struct FoundFile {
  ElfFile file;
  RootedPath rooted;
};

/// The separate debug file of `file`, at `rooted`: first by build id in usr/lib/debug/.build-id, then by
/// .gnu_debuglink next to the file, in .debug beside it and in usr/lib/debug; each below the target's root, then below
/// ours. A file counts only if it carries the same build id or, where one of them has none, the checksum of the link.
/// Never asks the network: no debuginfod.
std::optional<FoundFile> find_debug_file(const ElfFile& file, const RootedPath& rooted);

/// The file that `file`'s .gnu_debugaltlink names (what dwz moved out of several debug files), by build id and then by
/// name. `rooted` is where `file` itself lies. nullopt when there is no link or no such file.
std::optional<FoundFile> find_alternate_file(const ElfFile& file, const RootedPath& rooted);

/// The file that `path`, absolute, names below the root of `rooted` or else below ours; nullopt when there is no such
/// file.
std::optional<ElfFile> find_named_file(const std::string& path, const RootedPath& rooted);

}  // namespace hawk
