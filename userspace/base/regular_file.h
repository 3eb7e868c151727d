#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "userspace/base/unique_fd.h"

namespace hawk {

/// Which file, by stat. On btrfs and overlay file systems the device differs from the one that /proc/PID/maps gives for
/// the same file.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  bool operator==(const FileIdentity&) const = default;
};

/// Which file, and which content of it: a file that has been written to since has another one. (Its time of change is
/// no part of it: that moves when the file is renamed, or removed while it is mapped.)
struct FileState {
  FileIdentity file;
  std::uint64_t size_bytes = 0;
  std::int64_t modified_ns = 0;
  bool operator==(const FileState&) const = default;
};

/// The one way in which the program opens files that others choose: what a target has mapped, what lies below its root
/// or in any user's directory, under names that may lead elsewhere by the time that they are opened. Opening does not
/// wait, and nothing but a regular file is opened: a FIFO would wait for its writer, a device may act on being opened,
/// a leased file keeps the opener waiting for 45 s, and a file system in user space as long as it likes: of a
/// file there one gets a copy.
///
/// The descriptor is for reading and is closed by exec. None: errno says why, EINVAL if it is no regular file,
/// ETIMEDOUT if its file system does not answer, EFBIG if it cannot be copied because of its size.

/// Follows every link: for names that the user gave, and for links of /proc/PID that lead to an open or mapped file
/// (map_files, exe), whose own names do not matter.
UniqueFd open_regular_file(const std::string& path);
/// Resolves `path` as a process with that root does: links in it lead nowhere else. `root`: "" for our own file system,
/// or the directory of another. Links of procfs that lead to open files are not followed.
UniqueFd open_regular_file_below(const std::string& root, const std::string& path);

/// An open file, and which one it is.
struct RegularFile {
  UniqueFd fd;
  FileState state;              ///< of the file, where `fd` is a copy as well
  std::int64_t changed_ns = 0;  ///< its time of change, which cannot be set back
  std::uint32_t owner = 0;      ///< its owner's user id
  UniqueFd original;            ///< of a copy: the file itself, which cannot be read through it (O_PATH)
};
/// As open_regular_file and open_regular_file_below.
RegularFile find_regular_file(const std::string& path);
RegularFile find_regular_file_below(const std::string& root, const std::string& path);
/// As find_regular_file_below, but `path` itself is no link: for directories in which any user could make one that
/// leads to a file of another's.
RegularFile find_unlinked_file_below(const std::string& root, const std::string& path);

/// Both without asking a file system in user space. nullopt: errno says why.
std::optional<FileState> state_of(const UniqueFd& fd);
/// Follows every link, and opens nothing.
std::optional<FileState> state_of(const std::string& path);

}  // namespace hawk
